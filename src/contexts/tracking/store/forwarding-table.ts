import { Injectable } from '@nestjs/common';
import { MAX_DUE, ReportsBacklog, type BacklogState } from '../../../platform/operations/system-report.js';
import { Database } from '../../../platform/postgres/database.js';
import type { ItemsBitmap } from './accepted-batches.js';

/** Bytes of the bodies of one round, which has at least one body. */
const ROUND_BYTES = 4 * 1024 * 1024;
/** Batches of one statement. */
const SKIPPED = 1000;
/** Bounds the cost of a scrape. */
const COUNTED = 10_000;
const DEFERRED_ERROR = 'the body cannot be read for forwarding';

export interface DueBatch {
  readonly batch_id: string;
  readonly merchant_id: string;
  readonly item_count: number;
  readonly body: Buffer;
  readonly new_items: Buffer | null;
  readonly forward_done: Buffer | null;
  readonly forward_attempts: number;
}

export interface ForwardingRefusal {
  readonly eventId: string;
  readonly reason: string;
}

export interface ForwardedBatch {
  readonly row: DueBatch;
  /** Accepted or refused by the provider. */
  readonly done: ItemsBitmap;
  /** Not recorded yet. */
  readonly refusals: readonly ForwardingRefusal[];
  /** Milliseconds until a throttled event may be sent; null when there is none. */
  readonly waitMs: number | null;
  readonly blamed: boolean;
  readonly finished: boolean;
}

/** Kind of the one work item that the forwarding process claims. It counts the failures of the provider. */
export const FORWARDING = 'tracking.forwarding';

export interface Backlog {
  readonly failures: number;
  readonly cause: string | null;
  readonly events: number;
  /** Null when nothing waits. */
  readonly oldest: Date | null;
}

@Injectable()
export class ForwardingTable {
  constructor(private readonly database: Database) {}

  async isDue(): Promise<boolean> {
    const [row] = await this.database.query<{ due: boolean }>(
      `select exists (select from tracking.batches where state = 'processed' and forward_at <= now()) as due`,
    );
    return row!.due;
  }

  due(limit: number): Promise<DueBatch[]> {
    return this.database.query<DueBatch & Record<string, unknown>>(
      `with due as materialized (
         select batch_id, forward_at, octet_length(body) as bytes from tracking.batches
         where state = 'processed' and forward_at <= now() order by forward_at limit $1
       ), sized as materialized (
         select batch_id, forward_at, sum(bytes) over sizes - bytes as before
         from due window sizes as (order by forward_at, batch_id)
       )
       select batch_id, merchant_id, item_count, body, new_items, forward_done, forward_attempts
       from sized join tracking.batches using (batch_id)
       where before < $2 order by sized.forward_at, batch_id`,
      [limit, ROUND_BYTES],
    );
  }

  /** Deferred and blamed batches are due again later. */
  async record(batches: readonly ForwardedBatch[], backoffMs: (attempts: number) => number): Promise<void> {
    if (batches.length === 0) return;
    const refused = batches.flatMap(({ row, refusals }) =>
      refusals.map((refusal) => ({ ...refusal, merchantId: row.merchant_id, batchId: row.batch_id })),
    );
    const delay = ({ waitMs, blamed, row }: ForwardedBatch): number | null =>
      blamed ? backoffMs(row.forward_attempts) : waitMs;
    await this.database.query(
      `with refusal as (
         insert into tracking.refused_events (merchant_id, event_id, batch_id, reason)
         select * from unnest($6::uuid[], $7::uuid[], $8::uuid[], $9::text[])
         on conflict (merchant_id, event_id) do nothing
       )
       update tracking.batches batch set forward_done = result.done,
         state = case when result.finished then 'forwarded' else 'processed' end,
         forward_at = coalesce(clock_timestamp() + result.delay_ms * interval '1 ms', forward_at),
         forward_attempts = forward_attempts + result.blamed::int
       from unnest($1::uuid[], $2::bytea[], $3::bool[], $4::float8[], $5::bool[])
         as result (batch_id, done, finished, delay_ms, blamed)
       where batch.batch_id = result.batch_id and state = 'processed'`,
      [
        batches.map(({ row }) => row.batch_id),
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

  /** For a batch that cannot be read: it is retried later, after the others. */
  async defer({ batch_id }: DueBatch, delayMs: number): Promise<void> {
    await this.database.query(
      `update tracking.batches set forward_attempts = forward_attempts + 1, error = $3,
         forward_at = clock_timestamp() + $2 * interval '1 ms'
       where batch_id = $1 and state = 'processed'`,
      [batch_id, delayMs, DEFERRED_ERROR],
    );
  }

  /** Without a provider processed batches count as forwarded. */
  async skip(): Promise<void> {
    await this.database.query(
      `update tracking.batches set state = 'forwarded' where state = 'processed'
         and batch_id = any(array(select batch_id from tracking.batches where state = 'processed' limit ${SKIPPED}))`,
    );
  }

  /** Batches that are due, unless a process holds them or the provider is in backoff. */
  @ReportsBacklog(FORWARDING)
  async dueBacklog(): Promise<BacklogState> {
    const [row] = await this.database.query<{ due: number; oldest_at: Date | null }>(
      `select count(*)::int as due, greatest(min(forward_at), min(item.due_at)) as oldest_at
       from work.items item cross join lateral (
         select forward_at from tracking.batches where state = 'processed' and forward_at <= now()
         order by forward_at limit ${MAX_DUE}
       ) batch where kind = '${FORWARDING}' and item.due_at <= now()`,
    );
    return { name: FORWARDING, due: row!.due, oldest_at: row!.oldest_at?.toISOString() ?? null };
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
