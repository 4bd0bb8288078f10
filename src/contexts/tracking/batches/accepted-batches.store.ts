import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { NIL_UUID } from '../../../kernel/ids.js';
import { GroupCall } from '../../../platform/jobs/group-call.js';
import { Database } from '../../../platform/postgres/database.js';
import { batchStoreDuration } from '../tracking.metrics.js';

/** A bitmap of a batch's items, the first in the highest bit of the first byte, as stored in `tracking.batches`. */
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

export interface ValidBatch {
  readonly merchantId: string;
  readonly batchId: string;
  readonly itemCount: number;
  readonly body: Buffer;
}

export interface AcceptedBatch {
  readonly batch_id: string;
  readonly received_at: Date;
  readonly item_count: number;
  readonly body: Buffer;
}

/** The limits of one transaction. The first batch may exceed the bytes. */
const MAX_BATCHES = 8;
const MAX_BYTES = 4 << 20;
const MAX_COUNTED = 100_000;

/** The unprocessed rows of `tracking.batches`. They are not claimed: processing locks the merchant. */
@Injectable()
export class AcceptedBatches {
  private readonly inserts = new GroupCall((batches: readonly ValidBatch[]) => this.insertAll(batches), {
    group: () => upToBytes(MAX_BYTES),
  });

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Resolves once the batch is durable. Concurrent batches share a statement, and all reject if it fails. A batch that an
   * earlier attempt of the request stored is kept.
   */
  async insert(batch: ValidBatch): Promise<void> {
    const stored = batchStoreDuration.startTimer();
    await this.inserts.call(batch);
    stored();
  }

  private async insertAll(batches: readonly ValidBatch[]): Promise<void[]> {
    const values: unknown[] = [];
    // The time of the statement, not of arrival: an erasure would miss a batch that still waits.
    const at = this.clock.now();
    // A fixed order prevents deadlocks between processes.
    const ordered = batches.toSorted((a, b) => (a.batchId < b.batchId ? -1 : 1));
    const rows = ordered.map(({ batchId, merchantId, itemCount, body }) => {
      const before = values.push(batchId, merchantId, at, itemCount, body) - 5;
      return `($${before + 1}, $${before + 2}, $${before + 3}, $${before + 4}, $${before + 5})`;
    });
    await this.database.query(
      `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body)
       values ${rows.join()} on conflict (batch_id) do nothing`,
      values,
    );
    return batches.map(() => undefined);
  }

  /** Returns the merchants with accepted batches, by one index read each. */
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

  /** Returns the merchant's next batches in order of acceptance, behind `after`. */
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

function upToBytes(max: number): (batch: ValidBatch) => boolean {
  let bytes = 0;
  return ({ body }) => (bytes += body.length) <= max || bytes === body.length;
}
