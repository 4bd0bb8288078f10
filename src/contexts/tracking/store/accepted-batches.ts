import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { batchStoreDuration } from '../metrics.js';
import { Partitions } from './partitions.js';

/** One bit per item of a batch, the first in the highest bit of the first byte, as `tracking.batches` keeps them. */
export class ItemsBitmap {
  private constructor(readonly bytes: Buffer) {}

  static none(items: number): ItemsBitmap {
    return new ItemsBitmap(Buffer.alloc(Math.ceil(items / 8)));
  }

  /** A copy; null means none. */
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
  /** Whether the id belongs to an Idempotency-Key: then an earlier request may have stored the batch and died. */
  readonly repeatable: boolean;
  readonly itemCount: number;
  /** The request's body exactly as it was sent. */
  readonly body: Buffer;
}

export interface AcceptedBatch {
  readonly batch_id: string;
  readonly received_at: Date;
  /** With microseconds, for comparison in SQL. */
  readonly received_exactly: string;
  readonly item_count: number;
  readonly body: Buffer;
}

/** Of one transaction; the first batch may have more bytes. */
const MAX_BATCHES = 8;
const MAX_BYTES = 4 << 20;
/** A later repeat is stored as a batch in which no event is new. */
const REPEATS_WITHIN = "interval '1 day'";
const NIL = '00000000-0000-0000-0000-000000000000';
const MAX_COUNTED = 100_000;

const INSERT = `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body)
  select $1::uuid, $2::uuid, $3::timestamptz, $4::int, $5::bytea`;
/** The search for an earlier one costs a third of the statement. */
const INSERT_NEW = `${INSERT} where not exists (select from tracking.batches where batch_id = $1
  and received_at between $3::timestamptz - ${REPEATS_WITHIN} and $3::timestamptz + ${REPEATS_WITHIN})`;

/** `tracking.batches` until they are processed. Batches are not claimed: processing locks the merchant. */
@Injectable()
export class AcceptedBatches {
  constructor(
    private readonly database: Database,
    private readonly partitions: Partitions,
  ) {}

  /** Resolves once the batch is durable. Rejects, with nothing written, when the database is unavailable. */
  async insert({ merchantId, batchId, repeatable, itemCount, body }: ValidBatch, at: Date): Promise<void> {
    const stored = batchStoreDuration.startTimer();
    const values = [batchId, merchantId, at, itemCount, body];
    await this.partitions.having(() => this.database.query(repeatable ? INSERT_NEW : INSERT, values), [at]);
    stored();
  }

  /** Merchants with accepted batches, by one index read each. */
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

  /** The next batches of the merchant, in the order of acceptance, those after `after` when it is given. */
  next(merchantId: string, after?: AcceptedBatch): Promise<AcceptedBatch[]> {
    return this.database.query<AcceptedBatch & Record<string, unknown>>(
      `select batch_id, received_at, received_at::text as received_exactly, item_count, body from (
         select *, sum(octet_length(body)) over earlier as bytes, row_number() over earlier as place
         from (
           select batch_id, received_at, item_count, body from tracking.batches
           where merchant_id = $1 and state = 'accepted' and (received_at, batch_id) > ($2, $3)
           order by received_at, batch_id limit ${MAX_BATCHES}
         ) next window earlier as (order by received_at, batch_id)
       ) bounded where place = 1 or bytes <= ${MAX_BYTES} order by place`,
      [merchantId, after?.received_exactly ?? '-infinity', after?.batch_id ?? NIL],
    );
  }

  /** Until an operator sets it back to `accepted`. */
  async fail({ batch_id, received_exactly }: AcceptedBatch, error: string): Promise<void> {
    await this.database.query(
      `update tracking.batches set state = 'failed', processed_at = clock_timestamp(), error = $3
       where batch_id = $1 and received_at = $2 and state = 'accepted'`,
      [batch_id, received_exactly, error],
    );
  }

  /** At most {@link MAX_COUNTED}. */
  async waiting(): Promise<number> {
    const [row] = await this.database.query<{ waiting: number }>(
      `select count(*)::int as waiting
       from (select from tracking.batches where state = 'accepted' limit ${MAX_COUNTED}) waiting`,
    );
    return row!.waiting;
  }
}
