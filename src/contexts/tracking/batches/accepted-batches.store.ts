import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { NIL_UUID } from '../../../kernel/ids.js';
import { GroupCall } from '../../../platform/jobs/group-call.js';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import type { BatchEvent } from './event-batch.js';
import { batchStoreDuration } from '../tracking.metrics.js';

/** A bitmap of a batch's items. The first item is the highest bit of the first byte. */
export class ItemsBitmap {
  private constructor(readonly bytes: Buffer) {}

  static none(items: number): ItemsBitmap {
    return new ItemsBitmap(Buffer.alloc(Math.ceil(items / 8)));
  }

  static read(bytes: Buffer | null, items: number): ItemsBitmap {
    const bitmap = ItemsBitmap.none(items);
    bytes?.copy(bitmap.bytes);
    return bitmap;
  }

  has(item: number): boolean {
    return ((this.bytes[item >> 3] ?? 0) & (0x80 >> (item & 7))) !== 0;
  }

  add(item: number): void {
    this.bytes[item >> 3]! |= 0x80 >> (item & 7);
  }

  delete(item: number): void {
    this.bytes[item >> 3]! &= ~(0x80 >> (item & 7));
  }
}

export interface BatchRow {
  readonly batch_id: string;
  readonly merchant_id: string;
  readonly received_at: Date;
  readonly item_count: number;
  readonly body: Buffer;
  readonly state: string;
  readonly new_items: Buffer | null;
  readonly forward_done: Buffer | null;
  readonly forward_attempts: number;
}
export type NewBatch = Pick<BatchRow, 'batch_id' | 'merchant_id' | 'item_count' | 'body'>;
export type AcceptedBatch = Pick<BatchRow, 'batch_id' | 'received_at' | 'item_count' | 'body'>;

/** The limits of batches and body bytes per transaction. A batch above MAX_BYTES is processed alone. */
const MAX_BATCHES = 8;
const MAX_BYTES = 4 << 20;
const MAX_COUNTED = 100_000;

/** The first key of a merchant's advisory lock; the second key is a hash of the merchant id. */
const MERCHANT_LOCKS = 7331;
/** The time after which a stalled process loses the lock of its merchant. */
const STALLED_MS = 30_000;

/** The error for batches that another process has processed meanwhile. */
class Stale extends Error {}

/** The unprocessed rows of `tracking.batches`. No row is claimed, because `process` locks the merchant. */
@Injectable()
export class AcceptedBatches {
  private readonly inserts = new GroupCall((batches: readonly NewBatch[]) => this.insertAll(batches), {
    group: () => upToBytes(MAX_BYTES),
  });

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Stores a batch durably; a repeat has no effect. Batches that share a statement fail together. */
  async insert(batch: NewBatch): Promise<void> {
    const stored = batchStoreDuration.startTimer();
    await this.inserts.call(batch);
    stored();
  }

  private async insertAll(batches: readonly NewBatch[]): Promise<void[]> {
    const values: unknown[] = [];
    // `received_at` is the time of this statement. An erasure would miss a batch with an earlier time.
    const at = this.clock.now();
    // A fixed order prevents deadlocks between processes.
    const ordered = batches.toSorted((a, b) => (a.batch_id < b.batch_id ? -1 : 1));
    const rows = ordered.map(({ batch_id, merchant_id, item_count, body }) => {
      const before = values.push(batch_id, merchant_id, at, item_count, body) - 5;
      return `($${before + 1}, $${before + 2}, $${before + 3}, $${before + 4}, $${before + 5})`;
    });
    await this.database.query(
      `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body)
       values ${rows.join()} on conflict (batch_id) do nothing`,
      values,
    );
    return batches.map(() => undefined);
  }

  /** Returns the ids of merchants with accepted batches. Each merchant costs one index read. */
  async merchants(): Promise<readonly string[]> {
    const rows = await this.database.query<{ merchant_id: string }>(
      `with recursive waiting as (
         (select merchant_id from tracking.batches where state = 'accepted' order by merchant_id limit 1)
         union all
         select (select batch.merchant_id from tracking.batches batch
             where state = 'accepted' and batch.merchant_id > waiting.merchant_id order by merchant_id limit 1)
         from waiting where merchant_id is not null
       ) select merchant_id from waiting where merchant_id is not null`,
    );
    return rows.map(({ merchant_id }) => merchant_id);
  }

  /** Returns the merchant's accepted batches for one transaction, oldest first, after the batch `after`. */
  next(merchantId: string, after?: AcceptedBatch): Promise<AcceptedBatch[]> {
    return this.database.query<AcceptedBatch & Record<string, unknown>>(
      `select batch_id, received_at, item_count, body from (
         select *, sum(octet_length(body)) over earlier as bytes, row_number() over earlier as place
         from (
           select batch_id, received_at, item_count, body from tracking.batches
           where merchant_id = $1 and state = 'accepted' and (received_at, batch_id) > ($2, $3)
           order by received_at, batch_id limit ${MAX_BATCHES}
         ) next window earlier as (order by received_at, batch_id)
       ) bounded where place = 1 or bytes <= ${MAX_BYTES} order by place`,
      [merchantId, after?.received_at ?? '-infinity', after?.batch_id ?? NIL_UUID],
    );
  }

  /**
   * Inserts events with distinct ids and marks the batches as processed, under the merchant's lock (ADR 82).
   * Returns the number of new events, or null if another process has the lock or has processed the batches.
   */
  async process(
    merchantId: string,
    batches: readonly AcceptedBatch[],
    events: readonly BatchEvent[],
  ): Promise<number | null> {
    // Asynchronous commit is safe: after a lost commit the batches are still accepted and contain the data.
    const begin = `begin; set local synchronous_commit = off;
      set local idle_in_transaction_session_timeout = ${STALLED_MS};
      select pg_try_advisory_xact_lock(${MERCHANT_LOCKS}, hashtext('${merchantId}')) as locked`;
    try {
      return await this.database.transaction(
        async (tx, began) => {
          const [{ locked }] = began.at(-1)!.rows as [{ readonly locked: boolean }];
          if (!locked) return null;
          const added = await this.insertEvents(merchantId, batches, events, tx);
          await this.mark(batches, added, tx);
          return added.length;
        },
        { begin, bounded: true },
      );
    } catch (error) {
      if (error instanceof Stale) return null;
      throw error;
    }
  }

  private async insertEvents(
    merchantId: string,
    batches: readonly AcceptedBatch[],
    events: readonly BatchEvent[],
    tx: PoolClient,
  ): Promise<readonly BatchEvent[]> {
    const times = batches.map(({ received_at }) => received_at.toISOString());
    const values = [
      ...[merchantId, events.map(({ batch }) => times[batch])],
      ...columnArrays(events, 'event_id', 'user_external_id', 'event_name', 'event_datetime'),
      ...columnArrays(events, 'device_id', 'payload'),
    ];
    const { rows } = await tx.query<{ event_id: string }>(
      this.database.withTimeout({
        text: `insert into tracking.events
            (merchant_id, received_at, event_id, user_external_id, event_name, event_datetime, device_id, payload)
          select $1, item.*
          from unnest($2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[]) item
          on conflict do nothing returning event_id`,
        values,
      }),
    );
    const added = new Set(rows.map(({ event_id }) => event_id));
    return events.filter(({ event_id }) => added.has(event_id));
  }

  private async mark(
    batches: readonly AcceptedBatch[],
    added: readonly BatchEvent[],
    tx: PoolClient,
  ): Promise<void> {
    const newItems = batches.map(({ item_count }) => ItemsBitmap.none(item_count));
    for (const { batch, item } of added) newItems[batch]!.add(item);
    const { rowCount } = await tx.query(
      this.database.withTimeout({
        text: `update tracking.batches batch
            set state = 'processed', processed_at = clock_timestamp(), forward_at = clock_timestamp(), new_items = done.bits
            from unnest($1::uuid[], $2::bytea[]) as done (batch_id, bits)
            where batch.batch_id = done.batch_id and state = 'accepted'`,
        values: [batches.map(({ batch_id }) => batch_id), newItems.map(({ bytes }) => bytes)],
      }),
    );
    if (rowCount !== batches.length) throw new Stale();
  }

  /** Marks a batch as failed until an operator resets it to `accepted`. */
  async fail({ batch_id }: AcceptedBatch, error: string): Promise<void> {
    await this.database.query(
      `update tracking.batches set state = 'failed', processed_at = clock_timestamp(), error = $2
       where batch_id = $1 and state = 'accepted'`,
      [batch_id, error],
    );
  }

  async waiting(): Promise<number> {
    const [row] = await this.database.query<{ waiting: number }>(
      `select count(*)::int as waiting
       from (select from tracking.batches where state = 'accepted' limit ${MAX_COUNTED}) waiting`,
    );
    return row!.waiting;
  }
}

function upToBytes(max: number): (batch: NewBatch) => boolean {
  let bytes = 0;
  return ({ body }) => (bytes += body.length) <= max || bytes === body.length;
}
