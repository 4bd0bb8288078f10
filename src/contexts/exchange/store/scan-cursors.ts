import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { newId } from '../../../kernel/ids.js';
import { Database } from '../../../platform/postgres/database.js';

/** Where the cursor stood last, so many times: deeper than that no reorganisation is followed back. */
const TRAIL = 64;

/** In place of the hash of a block: whatever the chain has there. */
export const ANY_HASH = '';

export interface BlockPlace {
  readonly number: number;
  readonly hash: string;
}

/** The place of a scan, and the right to move it. */
export interface ScanCursor {
  readonly chainId: number;
  /** Up to here everything is confirmed and stored. */
  readonly scanned: BlockPlace;
  /** Up to here everything was seen. */
  readonly seen: BlockPlace;
  /** Each holder has another: what an earlier one still writes is refused. */
  readonly fence: string;
  /** By the database's clock, before anything was read. */
  readonly now: Date;
}

export interface CursorMove {
  readonly scanned: BlockPlace;
  readonly seen: BlockPlace;
  /** Null: as it was. */
  readonly completeUntil: Date | null;
}

export interface ScanState {
  /** Seconds since the last look that was stored. */
  readonly silent_seconds: number;
  readonly block_number: string;
  readonly seen_number: string;
}

/** Another process has moved the cursor meanwhile: nothing of this look is stored. */
export class ScanLost extends Error {
  override readonly name = 'ScanLost';
  constructor() {
    super('another process has taken the scan over');
  }
}

/** `exchange.scan_cursors`: one place per chain, moved by one process at a time. */
@Injectable()
export class ScanCursors {
  private readonly holder = newId();

  constructor(private readonly database: Database) {}

  /** The first place of a chain; without effect when it has one. */
  async start(chainId: number, { number, hash }: BlockPlace): Promise<void> {
    await this.database.query(
      `with started as (
         insert into exchange.scan_cursors (chain_id, block_number, block_hash, seen_number, seen_hash)
         values ($1, $2, $3, $2, $3) on conflict do nothing returning chain_id, block_number, block_hash)
       insert into exchange.scanned_blocks (chain_id, block_number, block_hash) select * from started
       on conflict do nothing`,
      [chainId, number, hash],
    );
  }

  /** Null when the chain has no place yet. */
  async state(chainId: number): Promise<ScanState | null> {
    const [row] = await this.database.query<ScanState & Record<string, unknown>>(
      `select extract(epoch from clock_timestamp() - scanned_at)::float8 as silent_seconds, block_number, seen_number
       from exchange.scan_cursors where chain_id = $1`,
      [chainId],
    );
    return row ?? null;
  }

  /** Takes or keeps the right to scan for `leaseMs`; null while another process has it. */
  async hold(chainId: number, leaseMs: number): Promise<ScanCursor | null> {
    const [row] = await this.database.query<Record<string, string> & { now: Date }>(
      `update exchange.scan_cursors
       set fence = fence + (held_by is distinct from $2)::int, held_by = $2,
         held_until = clock_timestamp() + $3 * interval '1 ms'
       where chain_id = $1 and (held_by is null or held_by = $2 or held_until < clock_timestamp())
       returning block_number, block_hash, seen_number, seen_hash, fence, clock_timestamp() as now`,
      [chainId, this.holder, leaseMs],
    );
    if (row === undefined) return null;
    return {
      chainId,
      scanned: { number: Number(row['block_number']), hash: row['block_hash']! },
      seen: { number: Number(row['seen_number']), hash: row['seen_hash']! },
      fence: row['fence']!,
      now: row.now,
    };
  }

  /** Keeps the right during a look that takes long. */
  async keep({ chainId, fence }: ScanCursor, leaseMs: number): Promise<void> {
    await this.database.query(
      `update exchange.scan_cursors set held_until = clock_timestamp() + $4 * interval '1 ms'
       where chain_id = $1 and held_by = $2 and fence = $3`,
      [chainId, this.holder, fence, leaseMs],
    );
  }

  /** Lets others scan at once. */
  async release(chainId: number): Promise<void> {
    await this.database.query(
      'update exchange.scan_cursors set held_by = null where chain_id = $1 and held_by = $2',
      [chainId, this.holder],
    );
  }

  /** Where the cursor stood last, newest first. */
  async trail(chainId: number): Promise<readonly BlockPlace[]> {
    const rows = await this.database.query<{ block_number: string; block_hash: string }>(
      `select block_number, block_hash from exchange.scanned_blocks where chain_id = $1 order by block_number desc
       limit ${TRAIL}`,
      [chainId],
    );
    return rows.map(({ block_number, block_hash }) => ({ number: Number(block_number), hash: block_hash }));
  }

  /**
   * An operator has everything after a block read again, whatever the chain has there now; a look under way is lost. False
   * for a block that was not reached yet.
   */
  async setBack(chainId: number, number: number): Promise<boolean> {
    const rows = await this.database.query(
      `with kept as (delete from exchange.scanned_blocks where chain_id = $1 and block_number >= $2)
       update exchange.scan_cursors
       set block_number = $2, block_hash = $3, seen_number = $2, seen_hash = $3, complete_until = null,
         fence = fence + 1, held_by = null
       where chain_id = $1 and block_number >= $2 returning 1 as done`,
      [chainId, number, ANY_HASH],
    );
    return rows.length === 1;
  }

  /** Goes back to where the chain was not reorganised: what follows is read again. Throws {@link ScanLost}. */
  async rewind(cursor: ScanCursor, ancestor: BlockPlace): Promise<void> {
    await this.database.transaction(
      async (tx) => {
        await moveCursor(tx, cursor, { scanned: ancestor, seen: ancestor, completeUntil: null });
        await tx.query(
          `with one as (update exchange.scan_cursors set complete_until = null where chain_id = $1),
             two as (delete from exchange.scanned_blocks where chain_id = $1 and block_number > $2)
           delete from exchange.deposits_under_way where chain_id = $1 and block_number > $2`,
          [cursor.chainId, ancestor.number],
        );
      },
      { bounded: true },
    );
  }
}

/** Moves the cursor from where the look began. Throws {@link ScanLost} unless it is still there. */
export async function moveCursor(tx: PoolClient, cursor: ScanCursor, move: CursorMove): Promise<void> {
  const { chainId, scanned, fence } = cursor;
  const { rowCount } = await tx.query(
    `update exchange.scan_cursors
     set block_number = $5, block_hash = $6, seen_number = $7, seen_hash = $8,
       complete_until = greatest(complete_until, $9), scanned_at = clock_timestamp()
     where chain_id = $1 and fence = $2 and block_number = $3 and block_hash = $4`,
    [
      ...[chainId, fence, scanned.number, scanned.hash],
      ...[move.scanned.number, move.scanned.hash, move.seen.number, move.seen.hash, move.completeUntil],
    ],
  );
  if (rowCount !== 1) throw new ScanLost();
  if (move.scanned.number <= scanned.number) return;
  await tx.query(
    `with kept as (
       insert into exchange.scanned_blocks (chain_id, block_number, block_hash) values ($1, $2, $3)
       on conflict (chain_id, block_number) do update set block_hash = excluded.block_hash)
     delete from exchange.scanned_blocks where chain_id = $1 and block_number < (
       select min(block_number) from (select block_number from exchange.scanned_blocks where chain_id = $1
         order by block_number desc limit ${TRAIL - 1}) newest)`,
    [chainId, move.scanned.number, move.scanned.hash],
  );
}
