import { Injectable } from '@nestjs/common';
import { isoOfMicroseconds } from '../../../../kernel/instant.js';
import type { BinaryFields } from '../../../../platform/postgres/binary-row.js';
import { Database } from '../../../../platform/postgres/database.js';

/** An accepted batch that waits to be processed. */
export interface AcceptedBatch {
  readonly batchId: string;
  /** Microseconds since 2000, as PostgreSQL counts them: exact, and what goes back into the database. */
  readonly receivedAt: bigint;
  readonly itemCount: number;
  readonly body: Buffer;
}

/** What goes into one transaction: so many batches at most, and so many bytes of bodies after the first. */
const BATCHES = 8;
const BYTES = 4 << 20;
/** A body is shorter. */
const MOST_BODY = 1 << 20;

/** Where PostgreSQL's times in binary begin, in microseconds since 1970. */
export const EPOCH = 946_684_800_000_000n;
const FIRST = { batchId: '00000000-0000-0000-0000-000000000000', receivedAt: null };

/** Reads what waits. Nothing is claimed here: that is the lock of the merchant. */
@Injectable()
export class AcceptedBatches {
  constructor(private readonly database: Database) {}

  /** Merchants with accepted batches, each by one look into the index however many batches it has. */
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

  /**
   * The next batches of the merchant in the order of acceptance, those after `after` when it is given; `more`: others may
   * follow.
   */
  async read(
    merchantId: string,
    { after, most = BATCHES }: { readonly after?: AcceptedBatch; readonly most?: number } = {},
  ): Promise<{ readonly batches: readonly AcceptedBatch[]; readonly more: boolean }> {
    const { batchId, receivedAt } = after ?? FIRST;
    const place =
      receivedAt === null ? '' : `and (received_at, batch_id) > (${timestamp(receivedAt)}, '${batchId}')`;
    const batches = await this.database.binaryRows(
      `select batch_id, received_at, item_count, body from (
         select *, sum(octet_length(body)) over (order by received_at, batch_id) as bytes,
           row_number() over (order by received_at, batch_id) as place
         from (
           select batch_id, received_at, item_count, body from tracking.batches
           where merchant_id = $1::uuid and state = 'accepted' ${place}
           order by received_at, batch_id limit ${most}
         ) next
       ) bounded where place = 1 or bytes <= ${BYTES} order by place`,
      [merchantId],
      readBatch,
    );
    const bytes = batches.reduce((sum, { body }) => sum + body.length, 0);
    return { batches, more: batches.length === most || bytes + MOST_BODY > BYTES };
  }

  /** For good, until an operator sets it back to `accepted`. */
  async fail({ batchId, receivedAt }: AcceptedBatch, error: string): Promise<void> {
    await this.database.query(
      `update tracking.batches set state = 'failed', processed_at = clock_timestamp(), error = $2
       where batch_id = $1 and received_at = ${timestamp(receivedAt)} and state = 'accepted'`,
      [batchId, error],
    );
  }
}

/** When the batch was received, cut to milliseconds. */
export function instantOf({ receivedAt }: AcceptedBatch): Date {
  return new Date(Number((receivedAt + EPOCH) / 1000n));
}

/** A time as a literal in SQL, exact to the microsecond: with constants the planner leaves other partitions out. */
export function timestamp(microseconds: bigint): string {
  return `timestamptz '${isoOfMicroseconds(microseconds + EPOCH)}'`;
}

function readBatch([batchId, receivedAt, itemCount, body]: BinaryFields): AcceptedBatch {
  return {
    batchId: uuidText(batchId!),
    receivedAt: receivedAt!.readBigInt64BE(),
    itemCount: itemCount!.readInt32BE(),
    // The connection receives more where this is.
    body: Buffer.from(body!),
  };
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
