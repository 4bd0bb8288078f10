import { Injectable } from '@nestjs/common';
import { MAX_DUE, ReportsBacklog, type BacklogState } from '../../../platform/operations/system-report.js';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import type { BatchRow } from '../batches/accepted-batches.store.js';

/** The number of body bytes at which a round is full. The last body may exceed this number. */
const ROUND_BYTES = 4 * 1024 * 1024;
const SKIPPED = 1000;
const COUNTED = 10_000;

export type DueBatch = Omit<BatchRow, 'received_at' | 'state'>;

export interface ForwardingRefusal {
  readonly merchant_id: string;
  readonly event_id: string;
  readonly batch_id: string;
  readonly reason: string;
}

interface ForwardingResult {
  readonly batch_id: string;
  /** The bitmap of accepted or refused items. */
  readonly done: Buffer | null;
  readonly state: 'processed' | 'forwarded';
  /** The delay until the batch is due again; 0 keeps the due time. */
  readonly delay_ms: number;
  readonly is_failed: boolean;
  readonly error: string | null;
}

/** The kind of the single work item that is the lease of forwarding and counts the provider's failures. */
export const FORWARDING = 'tracking.forwarding';

@Injectable()
export class ForwardingStore {
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

  async record(results: readonly ForwardingResult[], refusals: readonly ForwardingRefusal[]): Promise<void> {
    if (results.length === 0) return;
    await this.database.query(
      `with refusal as (
         insert into tracking.refused_events (merchant_id, event_id, batch_id, reason)
         select * from unnest($7::uuid[], $8::uuid[], $9::uuid[], $10::text[])
         on conflict (merchant_id, event_id) do nothing
       )
       update tracking.batches batch set forward_done = result.done, state = result.state,
         forward_at = coalesce(clock_timestamp() + nullif(result.delay_ms, 0) * interval '1 ms', forward_at),
         forward_attempts = forward_attempts + result.is_failed::int, error = result.error
       from unnest($1::uuid[], $2::bytea[], $3::text[], $4::float8[], $5::bool[], $6::text[])
         as result (batch_id, done, state, delay_ms, is_failed, error)
       where batch.batch_id = result.batch_id and batch.state = 'processed'`,
      [
        ...columnArrays(results, 'batch_id', 'done', 'state', 'delay_ms', 'is_failed', 'error'),
        ...columnArrays(refusals, 'merchant_id', 'event_id', 'batch_id', 'reason'),
      ],
    );
  }

  /** Marks processed batches as forwarded, because no provider is configured. */
  async skip(): Promise<void> {
    await this.database.query(
      `update tracking.batches set state = 'forwarded' where state = 'processed'
         and batch_id = any(array(select batch_id from tracking.batches where state = 'processed' limit ${SKIPPED}))`,
    );
  }

  /** Counts due batches, or returns 0 while a process has the lease or the provider is in backoff. */
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

  async backlog() {
    type Backlog = { failures: number; cause: string | null; events: number; oldest: Date | null };
    const [row] = await this.database.query<Backlog>(
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
