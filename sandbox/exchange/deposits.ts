import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { wakeWatches } from '../../src/contexts/exchange/store/watches.js';
import { Database } from '../../src/platform/postgres/database.js';

/** Transfers of less than this (minor units) are stored one by one so many times for one order; then in sums. */
const SMALL_MINOR = 1_000_000n;
const MAX_SMALL = 100;
/** A reorganisation that goes back behind so many places is read again from the first block. */
const MAX_PLACES = 64;

/** A block up to which everything is confirmed and stored. */
export interface Place {
  readonly number: number;
  readonly hash: string;
}

/** Where the scan is. */
export interface ScanState {
  /** Newest first. */
  readonly places: readonly Place[];
  /** Changed by every step: of two that began from the same state only one is stored. */
  readonly revision: string;
  /** By the database's clock, before the chain was read. */
  readonly now: Date;
}

export interface FoundDeposit {
  readonly orderId: string;
  readonly transactionHash: string;
  readonly place: number;
  readonly amountMinor: bigint;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly blockAt: Date;
}

/** All transfers to orders in the blocks after `base` up to `places[0]`. */
export interface ScanStep {
  /** What is stored of later blocks is replaced; -1: everything. */
  readonly base: number;
  readonly places: readonly Place[];
  readonly deposits: readonly FoundDeposit[];
  /** Orders with a transfer that lacks confirmations. Null while there are confirmed blocks to read first. */
  readonly awaited: readonly string[] | null;
}

export interface MovedDeposit {
  readonly order_id: string;
  readonly transaction_hash: string;
  readonly amount_minor: string;
}

export interface StoredStep {
  /** No longer on the chain. */
  readonly missing: readonly MovedDeposit[];
  /** In the transaction of a missing one, which is in another block now: of the same order and amount or others. */
  readonly replacing: readonly MovedDeposit[];
}

/** `exchange.deposits`, `exchange.sandbox_dust`, `exchange.awaited_deposits` and the place of the scan. */
@Injectable()
export class Deposits {
  constructor(private readonly database: Database) {}

  async state(): Promise<ScanState> {
    const [row] = await this.database.query<{ places: Place[]; revision: string; now: Date }>(
      'select places, revision, clock_timestamp() as now from exchange.sandbox_scan',
    );
    return row!;
  }

  /** Seconds since the last step that was stored; 0 before the first, which begins at the first block. */
  async silence(): Promise<number> {
    const [row] = await this.database.query<{ seconds: number }>(
      `select coalesce(extract(epoch from clock_timestamp() - scanned_at), 0)::float8 as seconds from exchange.sandbox_scan`,
    );
    return row!.seconds;
  }

  /** All of a step, or nothing; orders that it concerns are due. Null when another process stored one meanwhile. */
  store(state: ScanState, step: ScanStep): Promise<StoredStep | null> {
    return this.database.transaction(async (tx) => ((await moved(tx, state, step)) ? put(tx, step) : null), {
      bounded: true,
    });
  }
}

async function moved(tx: PoolClient, state: ScanState, { places, awaited }: ScanStep): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update exchange.sandbox_scan
     set revision = revision + 1, places = $2, complete_until = coalesce($3, complete_until), scanned_at = clock_timestamp()
     where revision = $1`,
    [state.revision, JSON.stringify(places.slice(0, MAX_PLACES)), awaited === null ? null : state.now],
  );
  return rowCount === 1;
}

async function put(tx: PoolClient, step: ScanStep): Promise<StoredStep> {
  const { listed, dust } = await withoutDust(tx, step);
  const missing = await markMissing(tx, { ...step, deposits: listed });
  const replacing = await insert(tx, listed);
  await sumUp(tx, step, dust);
  const awaited = step.awaited === null ? [] : await replaceAwaited(tx, step.awaited);
  const concerned = [...step.deposits.map(({ orderId }) => orderId), ...missing.map((each) => each.order_id)];
  await wakeWatches(tx, [...new Set([...concerned, ...awaited])]);
  return { missing, replacing };
}

/** What an earlier step found in these blocks, and this one does not. */
async function markMissing(tx: PoolClient, step: ScanStep): Promise<readonly MovedDeposit[]> {
  const { base, places, deposits, awaited } = step;
  const { rows } = await tx.query<MovedDeposit>(
    `update exchange.deposits d set missing_since = now()
     where block_number > $1 and ($2 or block_number <= $3) and missing_since is null
       and (transaction_hash, place, block_hash, order_id, amount_minor) not in (${foundRows(4)})
     returning order_id, transaction_hash, amount_minor::text`,
    [base, awaited !== null, places[0]?.number ?? -1, ...columns(deposits)],
  );
  return rows;
}

/** Thousands of small transfers to one address do not become thousands of rows: which ones do follows from the chain alone. */
async function withoutDust(
  tx: PoolClient,
  { base, deposits }: ScanStep,
): Promise<{ readonly listed: readonly FoundDeposit[]; readonly dust: readonly FoundDeposit[] }> {
  const small = deposits.filter(({ amountMinor }) => amountMinor < SMALL_MINOR);
  if (small.length === 0) return { listed: deposits, dust: [] };
  const { rows } = await tx.query<{ order_id: string; count: number }>(
    `select order_id, count(*)::int as count from exchange.deposits
     where order_id = any($1) and amount_minor < $2 and block_number <= $3 and missing_since is null group by order_id`,
    [[...new Set(small.map(({ orderId }) => orderId))], SMALL_MINOR.toString(), base],
  );
  const counts = new Map(rows.map(({ order_id, count }) => [order_id, count]));
  const dust = new Set<FoundDeposit>();
  for (const each of small) {
    const count = (counts.get(each.orderId) ?? 0) + 1;
    counts.set(each.orderId, count);
    if (count > MAX_SMALL) dust.add(each);
  }
  return { listed: deposits.filter((each) => !dust.has(each)), dust: [...dust] };
}

async function insert(tx: PoolClient, deposits: readonly FoundDeposit[]): Promise<readonly MovedDeposit[]> {
  if (deposits.length === 0) return [];
  const { rows } = await tx.query<MovedDeposit>(
    `with found as (
       insert into exchange.deposits as d
         (transaction_hash, place, block_hash, order_id, amount_minor, block_number, block_at)
       select * from unnest($1::text[], $2::integer[], $3::text[], $4::uuid[], $5::numeric[], $6::bigint[], $7::timestamptz[])
       on conflict (transaction_hash, place, block_hash, order_id, amount_minor) do update set missing_since = null
         where d.missing_since is not null
       returning order_id, transaction_hash, amount_minor::text)
     select * from found where transaction_hash in
       (select transaction_hash from exchange.deposits where missing_since is not null and transaction_hash = any($1))`,
    [
      ...columns(deposits),
      deposits.map(({ blockNumber }) => blockNumber),
      deposits.map(({ blockAt }) => blockAt),
    ],
  );
  return rows;
}

/** One row per order and step, so that a reorganisation takes off what it removes; steps that none goes back to are one row. */
async function sumUp(
  tx: PoolClient,
  { base, places }: ScanStep,
  dust: readonly FoundDeposit[],
): Promise<void> {
  await tx.query('delete from exchange.sandbox_dust where block_number > $1 or $1 = -1', [base]);
  if (dust.length > 0)
    await tx.query(
      `insert into exchange.sandbox_dust (order_id, block_number, transfers, amount_minor)
       select order_id, $1, count(*), sum(minor) from unnest($2::uuid[], $3::numeric[]) as f (order_id, minor)
       group by order_id`,
      [
        places[0]!.number,
        dust.map(({ orderId }) => orderId),
        dust.map(({ amountMinor }) => amountMinor.toString()),
      ],
    );
  const oldest = places[MAX_PLACES - 1];
  if (oldest === undefined) return;
  await tx.query(
    `with old as (delete from exchange.sandbox_dust where block_number between 0 and $1 - 1 returning *)
     insert into exchange.sandbox_dust as dust (order_id, block_number, transfers, amount_minor)
     select order_id, -1, sum(transfers), sum(amount_minor) from old group by order_id
     on conflict (order_id, block_number) do update
       set transfers = dust.transfers + excluded.transfers, amount_minor = dust.amount_minor + excluded.amount_minor`,
    [oldest.number],
  );
}

/** Orders of which it changed. */
async function replaceAwaited(tx: PoolClient, orderIds: readonly string[]): Promise<readonly string[]> {
  const { rows } = await tx.query<{ order_id: string }>(
    `with gone as (delete from exchange.awaited_deposits where order_id <> all($1::uuid[]) returning order_id),
       come as (insert into exchange.awaited_deposits select unnest($1::uuid[]) on conflict do nothing returning order_id)
     select order_id from gone union select order_id from come`,
    [[...new Set(orderIds)]],
  );
  return rows.map(({ order_id }) => order_id);
}

function foundRows(first: number): string {
  const types = ['text', 'integer', 'text', 'uuid', 'numeric'];
  return `select * from unnest(${types.map((type, n) => `$${first + n}::${type}[]`).join(', ')})`;
}

function columns(deposits: readonly FoundDeposit[]): unknown[][] {
  return [
    deposits.map(({ transactionHash }) => transactionHash),
    deposits.map(({ place }) => place),
    deposits.map(({ blockHash }) => blockHash),
    deposits.map(({ orderId }) => orderId),
    deposits.map(({ amountMinor }) => amountMinor.toString()),
  ];
}
