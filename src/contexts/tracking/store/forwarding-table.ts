import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { ItemsBitmap } from './items-bitmap.js';

/** Bytes of the bodies of one turn; there is always one body. */
const TURN_BYTES = 4 * 1024 * 1024;
/** Batches that are passed by in one statement when there is no provider. */
const PASSED_BY = 1000;
/** Batches that the backlog is counted over: what is beyond does not cost every scrape a look. */
const COUNTED = 10_000;
const DEFERRED_ERROR = 'the body cannot be read for forwarding';

/** A processed batch as the table has it. */
export interface DueBatch {
  readonly batch_id: string;
  /** Text, because a Date would lose the microseconds. */
  readonly received_at: string;
  readonly merchant_id: string;
  readonly item_count: number;
  readonly body: Buffer;
  readonly new_items: Buffer | null;
  readonly forward_done: Buffer | null;
  readonly forward_attempts: number;
}

export interface Refusal {
  readonly eventId: string;
  readonly reason: string;
}

/** What became of a batch so far. */
export interface ForwardedBatch {
  readonly row: DueBatch;
  /** What the provider took or refused. */
  readonly done: ItemsBitmap;
  /** Those that are not recorded yet. */
  readonly refusals: readonly Refusal[];
  /** Milliseconds after which some of it may be tried again; null when nothing was put off. */
  readonly waitMs: number | null;
  /** It may be why a request failed. */
  readonly blamed: boolean;
  /** Nothing of it is left to be sent. */
  readonly finished: boolean;
}

/** Work of `work.items`: one item, claimed by the process that forwards. Its failures are those of the provider. */
export const FORWARDING = 'tracking.forwarding';

/** What waits to be forwarded. */
export interface Backlog {
  /** Of the provider, since it last responded. */
  readonly failures: number;
  readonly cause: string | null;
  readonly events: number;
  /** Null when nothing waits. */
  readonly oldest: Date | null;
}

/** `tracking.batches` as the forwarder works with them. */
@Injectable()
export class ForwardingTable {
  constructor(private readonly database: Database) {}

  async isDue(): Promise<boolean> {
    const [row] = await this.database.query<{ due: boolean }>(
      `select exists (select from tracking.batches where state = 'processed' and forward_at <= now()) as due`,
    );
    return row!.due;
  }

  /** The batches that are due for the longest time, `most` of them and no more than a turn's bytes. */
  due(most: number): Promise<DueBatch[]> {
    return this.database.query<DueBatch & Record<string, unknown>>(
      `with due as materialized (
         select batch_id, received_at, forward_at, octet_length(body) as bytes from tracking.batches
         where state = 'processed' and forward_at <= now() order by forward_at limit $1
       ), taken as materialized (
         select batch_id, received_at, forward_at, sum(bytes) over sizes - bytes as before
         from due window sizes as (order by forward_at, batch_id)
       )
       select batch_id, received_at::text, merchant_id, item_count, body, new_items, forward_done, forward_attempts
       from taken join tracking.batches using (batch_id, received_at)
       where before < $2 order by taken.forward_at, batch_id`,
      [most, TURN_BYTES],
    );
  }

  /** Keeps what became of the batches. What was put off or blamed is due again after a while. */
  async record(batches: readonly ForwardedBatch[], backoffMs: (attempts: number) => number): Promise<void> {
    if (batches.length === 0) return;
    const refused = batches.flatMap(({ row, refusals }) =>
      refusals.map((refusal) => ({ ...refusal, merchantId: row.merchant_id, batchId: row.batch_id })),
    );
    // The arrays once more at the end: with them the planner looks the rows up instead of joining the whole backlog.
    const delay = ({ waitMs, blamed, row }: ForwardedBatch): number | null =>
      blamed ? backoffMs(row.forward_attempts) : waitMs;
    await this.database.query(
      `with refusal as (
         insert into tracking.refused_events (merchant_id, event_id, batch_id, reason)
         select * from unnest($7::uuid[], $8::uuid[], $9::uuid[], $10::text[])
         on conflict (merchant_id, event_id) do nothing
       )
       update tracking.batches batch set forward_done = result.done,
         state = case when result.finished then 'forwarded' else 'processed' end,
         forward_at = coalesce(clock_timestamp() + result.delay_ms * interval '1 ms', forward_at),
         forward_attempts = forward_attempts + result.blamed::int
       from unnest($1::uuid[], $2::timestamptz[], $3::bytea[], $4::bool[], $5::float8[], $6::bool[])
         as result (batch_id, received_at, done, finished, delay_ms, blamed)
       where batch.batch_id = result.batch_id and batch.received_at = result.received_at and state = 'processed'
         and batch.batch_id = any($1::uuid[]) and batch.received_at = any($2::timestamptz[])`,
      [
        batches.map(({ row }) => row.batch_id),
        batches.map(({ row }) => row.received_at),
        batches.map(({ done }) => done.bytes),
        batches.map(({ finished }) => finished),
        batches.map(delay),
        batches.map(({ blamed }) => blamed),
        refused.map((each) => each.merchantId),
        refused.map((each) => each.eventId),
        refused.map((each) => each.batchId),
        refused.map((each) => each.reason),
      ],
    );
  }

  /** What cannot be read stays, with the error on it, out of the way of the others. */
  async defer({ batch_id, received_at }: DueBatch, delayMs: number): Promise<void> {
    await this.database.query(
      `update tracking.batches set forward_attempts = forward_attempts + 1, error = $4,
         forward_at = clock_timestamp() + $3 * interval '1 ms'
       where batch_id = $1 and received_at = $2::timestamptz and state = 'processed'`,
      [batch_id, received_at, delayMs, DEFERRED_ERROR],
    );
  }

  /** Without a provider: some of what is processed counts as forwarded. */
  async passBy(): Promise<void> {
    await this.database.query(
      `with picked as materialized (
         select batch_id, received_at from tracking.batches where state = 'processed' limit ${PASSED_BY}
       )
       update tracking.batches set state = 'forwarded' where state = 'processed'
         and batch_id = any(array(select batch_id from picked))
         and received_at = any(array(select received_at from picked))`,
    );
  }

  async backlog(): Promise<Backlog> {
    const [row] = await this.database.query<Backlog & Record<string, unknown>>(
      `select failures, cause, waiting.* from work.items cross join (
         select coalesce(sum(bit_count(new_items) - coalesce(bit_count(forward_done), 0)), 0)::float8 as events,
           min(received_at) as oldest
         from (select new_items, forward_done, received_at from tracking.batches
           where state = 'processed' order by forward_at limit ${COUNTED}) processed) waiting
       where kind = '${FORWARDING}'`,
    );
    return row!;
  }
}
