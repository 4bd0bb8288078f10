import { Injectable } from '@nestjs/common';
import { newId } from '../../../kernel/ids.js';
import { Database } from '../../../platform/postgres/database.js';
import { GroupCall } from '../../../platform/jobs/group-call.js';
import { columnArrays } from '../../../platform/postgres/batches.js';
import type { FailurePhase } from '../../../platform/outbound/request-failure.js';
import type { AttemptOutcome, DeliveryStatus } from './retry.js';
import type { DeliveryWithMac } from '../endpoints/signing-secrets.store.js';

/** The age of the last heartbeat at which other processes may release the leases of a sender. */
const DEAD_AFTER_SECONDS = 10;
/** The heartbeat age at which a sender treats its leases as expired, 2 s before others may release them. */
const UNRESPONSIVE_MS = (DEAD_AFTER_SECONDS - 2) * 1000;
/** The time for which results are collected into one statement, under load. */
const GATHER_MS = 3;

export interface DeliveryClaim extends DeliveryWithMac {
  readonly attempts: number;
  /** The number of attempts before the current round. A resend restarts the retry schedule. */
  readonly attempts_before: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly traceparent: string | null;
}

export interface AttemptRecord {
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: AttemptOutcome;
  readonly http_status: number | null;
  readonly failure_phase: FailurePhase | null;
  readonly error: string | null;
  /** The first KiB of the response. */
  readonly response_excerpt: Buffer | null;
}

const ATTEMPT_COLUMNS = [
  'started_at',
  'duration_ms',
  'outcome',
  'http_status',
  'failure_phase',
  'error',
  'response_excerpt',
] as const satisfies readonly (keyof AttemptRecord)[];

export interface DeliveryResult {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly state: DeliveryStatus;
  readonly attempts: number;
  /** The milliseconds until a pending delivery is due. */
  readonly delay_ms: number;
  readonly attempt: AttemptRecord | null;
}

type ClaimRequest = readonly [endpointId: string, room: number];

/** Claims deliveries for this process and records their attempts. Calls for many endpoints are grouped. */
@Injectable()
export class DeliveryTable {
  private readonly senderId = newId();
  private readonly held = new Set<string>();
  /** The time of the last heartbeat, on the clock of `performance.now()`. */
  private seenAt = -Infinity;

  private readonly claims = new GroupCall<ClaimRequest, readonly DeliveryClaim[]>((requests) =>
    this.claimAll(requests),
  );
  private readonly records = new GroupCall<DeliveryResult, void>((results) => this.recordAll(results), {
    gatherMs: GATHER_MS,
  });

  constructor(private readonly database: Database) {}

  /** Claims up to `room` due deliveries of the endpoint, until they are recorded or released. */
  claim(endpointId: string, room: number): Promise<readonly DeliveryClaim[]> {
    return this.claims.call([endpointId, room]);
  }

  /** Stores the attempt, updates the delivery and releases it. */
  record(result: DeliveryResult): Promise<void> {
    return this.records.call(result);
  }

  /** Releases unsent claims. Never rejects. */
  async release(claimed: readonly Pick<DeliveryClaim, 'delivery_id'>[]): Promise<void> {
    const ids = claimed.map((each) => each.delivery_id);
    try {
      await this.database.query(
        `with given as materialized (
           select delivery_id from webhooks.deliveries where leased_by = $1 and delivery_id = any($2::uuid[])
           order by delivery_id for update)
         update webhooks.deliveries set leased_by = null where delivery_id = any(array(select delivery_id from given))`,
        [this.senderId, ids],
      );
    } catch {
      // The next heartbeat releases them.
    }
    for (const id of ids) this.held.delete(id);
  }

  /** Returns false once other processes may claim the deliveries of this process. */
  hasValidLeases(): boolean {
    return performance.now() - this.seenAt < UNRESPONSIVE_MS;
  }

  /** Records a heartbeat, and releases leases of processes without a recent heartbeat. */
  async heartbeat(): Promise<void> {
    await this.recordHeartbeat();
    await this.database.query(
      // A row that another process has locked is released by that process or by the next heartbeat.
      `with held as materialized (
         select delivery_id from webhooks.deliveries where leased_by is not null and leased_by not in
           (select sender_id from webhooks.senders where seen_at > clock_timestamp() - make_interval(secs => $1))
         for update skip locked)
       update webhooks.deliveries set leased_by = null where delivery_id = any(array(select delivery_id from held))`,
      [DEAD_AFTER_SECONDS],
    );
    await this.database.query(
      `delete from webhooks.senders where seen_at < clock_timestamp() - make_interval(secs => $1)`,
      [DEAD_AFTER_SECONDS * 10],
    );
    await this.claims.between(() => this.releaseUnknown());
  }

  async dueEndpoints(): Promise<readonly string[]> {
    // The query hops from endpoint to endpoint through the index instead of reading every due row.
    const rows = await this.database.query<{ endpoint_id: string }>(
      `with recursive hop as (
         (select endpoint_id, due_at from webhooks.deliveries where state = 'pending' and leased_by is null
          order by endpoint_id, due_at limit 1)
         union all
         select next.* from hop cross join lateral (
           select endpoint_id, due_at from webhooks.deliveries
           where state = 'pending' and leased_by is null and endpoint_id > hop.endpoint_id
           order by endpoint_id, due_at limit 1) next
       )
       select endpoint_id from hop where due_at <= now()`,
    );
    return rows.map((row) => row.endpoint_id);
  }

  async releaseAll(): Promise<void> {
    await this.database.query('update webhooks.deliveries set leased_by = null where leased_by = $1', [
      this.senderId,
    ]);
    await this.database.query('delete from webhooks.senders where sender_id = $1', [this.senderId]);
  }

  private async recordHeartbeat(): Promise<void> {
    const now = performance.now();
    await this.database.query(
      `insert into webhooks.senders values ($1, clock_timestamp())
       on conflict (sender_id) do update set seen_at = excluded.seen_at`,
      [this.senderId],
    );
    this.seenAt = now;
  }

  private async claimAll(requests: readonly ClaimRequest[]): Promise<readonly (readonly DeliveryClaim[])[]> {
    // Another process would release the leases of a sender without a heartbeat.
    if (!this.hasValidLeases()) await this.recordHeartbeat();
    // The array avoids a scan: PostgreSQL plans a non-constant limit as a tenth of the rows.
    const rows = await this.database.query<DeliveryClaim & { [column: string]: unknown }>(
      `with picked as (
         select due.delivery_id from unnest($1::uuid[], $2::int[]) as lane (endpoint_id, room)
         cross join lateral (
           select delivery_id from webhooks.deliveries
           where endpoint_id = lane.endpoint_id and state = 'pending' and leased_by is null and due_at <= now()
           order by due_at limit lane.room for update skip locked) due
       )
       update webhooks.deliveries set leased_by = $3 where delivery_id = any(array(select delivery_id from picked))
       returning delivery_id, endpoint_id, merchant_id, type, body, is_test, mac,
         attempts, attempts_before, created_at, due_at, traceparent`,
      [requests.map(([endpointId]) => endpointId), requests.map(([, room]) => room), this.senderId],
    );
    const lanes = new Map<string, DeliveryClaim[]>(requests.map(([endpointId]) => [endpointId, []]));
    for (const row of rows) {
      // The record of the last attempt is unconfirmed. A retry or the next heartbeat releases the row.
      if (this.held.has(row.delivery_id)) continue;
      this.held.add(row.delivery_id);
      lanes.get(row.endpoint_id)?.push(row);
    }
    return requests.map(([endpointId]) => lanes.get(endpointId) ?? []);
  }

  /** Releases rows leased by this process but unknown to it, because a database response was lost or late. */
  private async releaseUnknown(): Promise<void> {
    await this.database.query(
      'update webhooks.deliveries set leased_by = null where leased_by = $1 and not (delivery_id = any($2::uuid[]))',
      [this.senderId, [...this.held]],
    );
  }

  private async recordAll(results: readonly DeliveryResult[]): Promise<readonly void[]> {
    // Only a success counts if another sender has the lease. A failure after a resend request begins a new
    // round at once. Resends and recoveries lock rows in this order too, to avoid deadlocks.
    const ordered = results.toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
    await this.database.query(
      `with result as (
         select distinct on (delivery_id) *, state in ('pending', 'exhausted') and outcome is not null as failed
         from unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[], $6::float8[], $7::timestamptz[], $8::int[], $9::text[],
             $10::int[], $11::text[], $12::text[], $13::bytea[])
           as result (delivery_id, endpoint_id, state, attempts, delay_ms, ${ATTEMPT_COLUMNS.join()})
         order by delivery_id, state <> 'succeeded'
       ), kept as (
         insert into webhooks.attempts (delivery_id, attempt, endpoint_id, ${ATTEMPT_COLUMNS.join()})
         select delivery_id, attempts, endpoint_id, ${ATTEMPT_COLUMNS.join()} from result where outcome is not null
         -- Of two attempts with one number, the successful one counts.
         on conflict (delivery_id, attempt) do update
         set ${ATTEMPT_COLUMNS.map((name) => `${name} = excluded.${name}`).join()}
         where excluded.outcome = 'succeeded'
       )
       update webhooks.deliveries delivery set leased_by = null, attempts = result.attempts,
         state = case when resend_requested and result.failed then 'pending' else result.state end,
         attempts_before = case when resend_requested and result.failed then result.attempts else attempts_before end,
         resend_requested = resend_requested and result.state = 'pending' and not result.failed,
         due_at = case when resend_requested and result.failed then clock_timestamp()
           when result.state = 'pending' then clock_timestamp() + result.delay_ms * interval '1 millisecond'
           else due_at end,
         finished_at = case when result.state = 'pending' or resend_requested and result.failed then null
           else clock_timestamp() end
       from result where delivery.delivery_id = result.delivery_id and case delivery.state
         when 'pending' then delivery.leased_by = $1 or result.state = 'succeeded'
         -- A later attempt of another process succeeded too.
         when 'succeeded' then result.state = 'succeeded' and result.attempts > delivery.attempts
         else false end`,
      [
        this.senderId,
        ...columnArrays(ordered, 'delivery_id', 'endpoint_id', 'state', 'attempts', 'delay_ms'),
        ...columnArrays<Partial<AttemptRecord>>(
          ordered.map(({ attempt }) => attempt ?? {}),
          ...ATTEMPT_COLUMNS,
        ),
      ],
    );
    for (const each of results) this.held.delete(each.delivery_id);
    return results.map(() => undefined);
  }
}
