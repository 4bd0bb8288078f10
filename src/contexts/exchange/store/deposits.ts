import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import { moveCursor, type CursorMove, type ScanCursor } from './scan-cursors.js';
import { wakeWatches } from './watches.js';

/** Deposits of less than this (minor units) are taken so many times for one order; what is more is counted alone. */
const SMALL_MINOR = 1_000_000n;
const MOST_SMALL = 100;

export interface FoundTransfer {
  readonly orderId: string;
  readonly transactionHash: string;
  readonly place: number;
  readonly amountMinor: bigint;
  readonly blockNumber: number;
  readonly blockHash: string;
}

export interface FoundDeposit extends FoundTransfer {
  readonly blockAt: Date;
}

/** What one look has found, and where the cursor goes with it. */
export interface ScanStep extends CursorMove {
  readonly deposits: readonly FoundDeposit[];
  /** Not confirmed yet. They take the place of those in the blocks after `seenAgainAfter`. */
  readonly underWay: readonly FoundTransfer[];
  readonly seenAgainAfter: number;
  /** Transfers to orders that are no deposits. */
  readonly ignored: readonly FoundTransfer[];
}

/** What a look came to. */
export interface Stored {
  readonly deposits: number;
  readonly ignored: number;
  /** Deposits of blocks that were read again, and hold them no more. */
  readonly missing: readonly { readonly orderId: string; readonly transactionHash: string }[];
}

/** `exchange.deposits` and `exchange.deposits_under_way`. */
@Injectable()
export class Deposits {
  constructor(private readonly database: Database) {}

  /** Unconfirmed ones up to this block. */
  async underWay(chainId: number, to: number): Promise<readonly Omit<FoundTransfer, 'amountMinor'>[]> {
    const rows = await this.database.query<Record<string, string> & { place: number }>(
      `select order_id, transaction_hash, place, block_number, block_hash from exchange.deposits_under_way
       where chain_id = $1 and block_number <= $2`,
      [chainId, to],
    );
    return rows.map((row) => ({
      orderId: row['order_id']!,
      transactionHash: row['transaction_hash']!,
      place: row.place,
      blockNumber: Number(row['block_number']),
      blockHash: row['block_hash']!,
    }));
  }

  /** All of a look, or nothing; its orders are due to be looked at. Throws ScanLost when another process has moved the cursor. */
  async store(cursor: ScanCursor, step: ScanStep): Promise<Stored> {
    const { chainId } = cursor;
    return this.database.transaction(
      async (tx) => {
        await moveCursor(tx, cursor, step);
        const { taken, excess } = await withoutDust(tx, step.deposits);
        const missing = await markMissing(tx, cursor, step);
        await insert(tx, chainId, taken);
        const changed = await replaceUnderWay(tx, chainId, step);
        const ignored = [...step.ignored, ...excess];
        await countIgnored(tx, ignored);
        const orders = [...taken, ...missing].map(({ orderId }) => orderId);
        const woken = [...new Set([...orders, ...changed])];
        await wakeWatches(tx, woken);
        return { deposits: taken.length, ignored: ignored.length, missing };
      },
      { bounded: true },
    );
  }
}

/** Whoever sends thousands of small amounts to an address makes no thousands of deposits; large ones always count. */
async function withoutDust(
  tx: PoolClient,
  found: readonly FoundDeposit[],
): Promise<{ taken: readonly FoundDeposit[]; excess: readonly FoundDeposit[] }> {
  const small = found.filter(({ amountMinor }) => amountMinor < SMALL_MINOR);
  if (small.length === 0) return { taken: found, excess: [] };
  const { rows } = await tx.query<{ order_id: string; count: string }>(
    `select order_id, count(*) from exchange.deposits where order_id = any($1) and amount_minor < $2 group by order_id`,
    [[...new Set(small.map(({ orderId }) => orderId))], SMALL_MINOR.toString()],
  );
  const counts = new Map(rows.map(({ order_id, count }) => [order_id, Number(count)]));
  const excess = new Set<FoundDeposit>();
  for (const each of small) {
    const count = (counts.get(each.orderId) ?? 0) + 1;
    counts.set(each.orderId, count);
    if (count > MOST_SMALL) excess.add(each);
  }
  return { taken: found.filter((each) => !excess.has(each)), excess: [...excess] };
}

/** What is found again is on the chain again; its amount and its order stay what they were. */
async function insert(tx: PoolClient, chainId: number, found: readonly FoundDeposit[]): Promise<void> {
  if (found.length === 0) return;
  await tx.query(
    `insert into exchange.deposits
       (chain_id, transaction_hash, place, order_id, amount_minor, block_number, block_hash, block_at)
     select $1, * from unnest($2::text[], $3::integer[], $4::uuid[], $5::numeric[], $6::bigint[], $7::text[],
       $8::timestamptz[])
     on conflict (chain_id, transaction_hash, place) do update
       set block_number = excluded.block_number, block_hash = excluded.block_hash, missing_since = null`,
    [chainId, ...columns(found), found.map(({ blockAt }) => blockAt)],
  );
}

/** Before the new ones are stored: what an earlier look found in these blocks, and this one does not. */
async function markMissing(
  tx: PoolClient,
  { chainId, scanned }: ScanCursor,
  step: ScanStep,
): Promise<Stored['missing']> {
  if (step.scanned.number <= scanned.number) return [];
  const { rows } = await tx.query<{ order_id: string; transaction_hash: string }>(
    `update exchange.deposits d set missing_since = now()
     where chain_id = $1 and block_number > $2 and block_number <= $3 and missing_since is null
       and not exists (select from unnest($4::text[], $5::integer[]) as f (hash, place)
         where f.hash = d.transaction_hash and f.place = d.place)
     returning order_id, transaction_hash`,
    [
      ...[chainId, scanned.number, step.scanned.number],
      step.deposits.map(({ transactionHash }) => transactionHash),
      step.deposits.map(({ place }) => place),
    ],
  );
  return rows.map((row) => ({ orderId: row.order_id, transactionHash: row.transaction_hash }));
}

/** Orders that have other transfers under way now. */
async function replaceUnderWay(tx: PoolClient, chainId: number, step: ScanStep): Promise<readonly string[]> {
  const { rows } = await tx.query<{ order_id: string }>(
    `delete from exchange.deposits_under_way where chain_id = $1 and (block_number <= $2 or block_number > $3)
     returning order_id`,
    [chainId, step.scanned.number, step.seenAgainAfter],
  );
  const { underWay } = step;
  if (underWay.length > 0) {
    const [hashes, places, orders, , numbers, blocks] = columns(underWay);
    await tx.query(
      `insert into exchange.deposits_under_way (chain_id, transaction_hash, place, order_id, block_number, block_hash)
       select $1, * from unnest($2::text[], $3::integer[], $4::uuid[], $5::bigint[], $6::text[])
       on conflict (chain_id, transaction_hash, place) do update
         set order_id = excluded.order_id, block_number = excluded.block_number, block_hash = excluded.block_hash`,
      [chainId, hashes, places, orders, numbers, blocks],
    );
  }
  return [...rows.map(({ order_id }) => order_id), ...underWay.map(({ orderId }) => orderId)];
}

async function countIgnored(tx: PoolClient, ignored: readonly FoundTransfer[]): Promise<void> {
  if (ignored.length === 0) return;
  await tx.query(
    `update exchange.sandbox_orders o
     set ignored_transfers = ignored_transfers + i.count, ignored_minor = ignored_minor + i.sum
     from (select order_id, count(*) as count, sum(minor) as sum
       from unnest($1::uuid[], $2::numeric[]) as f (order_id, minor) group by order_id) i
     where o.order_id = i.order_id`,
    [ignored.map(({ orderId }) => orderId), ignored.map(({ amountMinor }) => amountMinor.toString())],
  );
}

function columns(found: readonly FoundTransfer[]): unknown[][] {
  return [
    found.map(({ transactionHash }) => transactionHash),
    found.map(({ place }) => place),
    found.map(({ orderId }) => orderId),
    found.map(({ amountMinor }) => amountMinor.toString()),
    found.map(({ blockNumber }) => blockNumber),
    found.map(({ blockHash }) => blockHash),
  ];
}
