import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Database } from '../../../platform/postgres/database.js';
import { Log } from '../../../platform/telemetry/logger.js';
import {
  disableAutomatically,
  FAILURE_COUNT_LIMIT,
  webhookEndpoints,
  type DisableReason,
  type EndpointRef,
} from './webhook-endpoints.js';
import { endpointsDisabled } from '../webhooks.metrics.js';
import { webhooksConfig, type WebhooksConfig } from '../webhooks.config.js';

/** The evaluation interval of endpoints with failed attempts in this process. */
const EVALUATE_MS = 500;
/** The evaluation interval of all endpoints, because a process may end before it evaluates its failures. */
const EVALUATE_ALL_MS = 60_000;

/** The condition under which a failure counts: after the last enabling and within $2 seconds before $1. */
const COUNTS = `attempt.endpoint_id = snapshot.endpoint_id and attempt.outcome <> 'succeeded'
  and attempt.started_at > snapshot.failures_since
  and attempt.started_at >= $1::timestamptz - make_interval(secs => $2)`;

const failures = (columns: string, rest: string): string =>
  `select ${columns} from webhooks.attempts attempt where ${COUNTS} ${rest}`;

/**
 * Disables endpoints after a 410 or sustained failures (contract.md 15). Enough failures must lie within the
 * window and span enough time; successes do not matter. Several processes may evaluate an endpoint at once.
 */
@Injectable()
export class AutomaticDisablingProcessor {
  private failing = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly log: Log,
    @Inject(webhooksConfig.KEY) private readonly config: WebhooksConfig,
  ) {}

  /** Schedules the evaluation of an endpoint after a recorded failure. */
  attemptFailed(endpointId: string): void {
    this.failing.add(endpointId);
  }

  @Periodic({ name: 'evaluation of failed webhook endpoints', everyMs: EVALUATE_MS })
  async evaluateFailing(): Promise<void> {
    const ids = [...this.failing];
    this.failing = new Set();
    if (ids.length > 0) await this.evaluate(ids);
  }

  @Periodic({ name: 'evaluation of all webhook endpoints', everyMs: EVALUATE_ALL_MS })
  evaluateAll(): Promise<void> {
    return this.evaluate(null);
  }

  /** Disables the given endpoints that have sustained failures; null means all endpoints. */
  private async evaluate(endpointIds: readonly string[] | null): Promise<void> {
    const { webhookDisableSpanSeconds: span, webhookDisableFailures: enough } = this.config;
    const found = await this.database.query<EndpointRef & { failing_since: Date; [column: string]: unknown }>(
      `select snapshot.endpoint_id, snapshot.merchant_id, oldest.started_at as failing_since
       from webhooks.endpoint_snapshots snapshot
       cross join lateral (${failures('started_at', 'order by started_at limit 1')}) oldest
       cross join lateral (${failures('started_at', 'order by started_at desc limit 1')}) newest
       where snapshot.status = 'enabled' and ($3::uuid[] is null or snapshot.endpoint_id = any($3))
         and newest.started_at - oldest.started_at >= make_interval(secs => $4)
         and exists (${failures('', 'order by started_at offset $5 limit 1')})`,
      [...this.window(), endpointIds, span, enough - 1],
    );
    for (const { endpoint_id, merchant_id, failing_since } of found)
      await this.disable(
        { endpoint_id, merchant_id },
        { cause: 'failing', failing_since: failing_since.toISOString() },
      );
  }

  /** Returns the failure counts by endpoint. An endpoint that the saga has not stored yet is missing. */
  async counts(endpointIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.query<{ endpoint_id: string; failures: number }>(
      `select endpoint_id,
         (select count(*)::int from (${failures('', `limit ${FAILURE_COUNT_LIMIT}`)}) counted) as failures
       from webhooks.endpoint_snapshots snapshot where endpoint_id = any($3::uuid[])`,
      [...this.window(), endpointIds],
    );
    return new Map(rows.map((row) => [row.endpoint_id, row.failures]));
  }

  async count(endpointId: string): Promise<number> {
    return (await this.counts([endpointId])).get(endpointId) ?? 0;
  }

  /** Disables an enabled endpoint, unless the reason is outdated. */
  async disable(endpoint: EndpointRef, reason: DisableReason): Promise<void> {
    const { merchant_id } = endpoint;
    const command = { ...endpoint, reason, at: timestamp(this.clock) };
    const causation = reason.cause === 'gone' ? { causation_id: reason.delivery_id } : {};
    const { events } = await this.loop.execute(
      webhookEndpoints,
      merchant_id,
      (state) => disableAutomatically(command, state),
      { metadata: { actor: 'webhooks.disabling', merchant_id, ...causation } },
    );
    if (events.length === 0) return;
    const { cause } = reason;
    endpointsDisabled.inc({ cause });
    // The URL is not logged, because its path may contain a token.
    const because =
      reason.cause === 'gone' ? { delivery_id: reason.delivery_id } : { failing_since: reason.failing_since };
    this.log.wideLog('webhook endpoint disabled', { ...endpoint, cause, ...because }, 'warn');
  }

  private window(): [Date, number] {
    return [this.clock.now(), this.config.webhookDisableWindowSeconds];
  }
}
