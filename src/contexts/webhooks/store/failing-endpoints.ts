import { FAILURE_COUNT_LIMIT } from '../domain/webhook-endpoints.js';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Database } from '../../../platform/postgres/database.js';
import { webhooksConfig, type WebhooksConfig } from '../settings.js';

interface FailingEndpoint {
  readonly [column: string]: unknown;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  /** When the oldest failure that counts began. */
  readonly failing_since: Date;
}

/**
 * SQL: whether a row `attempt` of `webhooks.attempts` counts as a failure of the row `snapshot` of `webhooks.endpoint_snapshots`. All
 * but successes count, in a window of so many seconds ($2) that ends now ($1), since the endpoint was enabled. The index
 * `attempts_failed` has these rows in the order of time.
 */
const COUNTS = `attempt.endpoint_id = snapshot.endpoint_id and attempt.outcome <> 'succeeded'
  and attempt.started_at > snapshot.failures_since
  and attempt.started_at >= $1::timestamptz - make_interval(secs => $2)`;

/** Which endpoints fail, by the attempts that were recorded, and which of them are to be disabled. */
@Injectable()
export class FailingEndpoints {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(webhooksConfig.KEY) private readonly config: WebhooksConfig,
  ) {}

  async enabledAfter(endpointId: string | null, limit: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ endpoint_id: string }>(
      `select endpoint_id from webhooks.endpoint_snapshots
       where status = 'enabled' and ($1::uuid is null or endpoint_id > $1) order by endpoint_id limit $2`,
      [endpointId, limit],
    );
    return rows.map(({ endpoint_id }) => endpoint_id);
  }

  /** Reads the first, the last and at most as many failures in between as it takes to be disabled. */
  among(endpointIds: readonly string[]): Promise<FailingEndpoint[]> {
    const failures = (columns: string, rest: string): string =>
      `select ${columns} from webhooks.attempts attempt where ${COUNTS} ${rest}`;
    return this.database.query<FailingEndpoint>(
      `select snapshot.endpoint_id, snapshot.merchant_id, oldest.started_at as failing_since
       from webhooks.endpoint_snapshots snapshot
       cross join lateral (${failures('started_at', 'order by started_at limit 1')}) oldest
       cross join lateral (${failures('started_at', 'order by started_at desc limit 1')}) newest
       where snapshot.endpoint_id = any($3::uuid[]) and snapshot.status = 'enabled'
         and newest.started_at - oldest.started_at >= make_interval(secs => $4)
         and exists (${failures('', 'order by started_at offset $5 limit 1')})`,
      [
        ...this.window(),
        endpointIds,
        this.config.webhookDisableSpanSeconds,
        this.config.webhookDisableFailures - 1,
      ],
    );
  }

  async count(endpointId: string): Promise<number> {
    return (await this.counts([endpointId])).get(endpointId) ?? 0;
  }

  /** Those of several; one that has no deliveries yet may be missing. */
  async counts(endpointIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.query<{ endpoint_id: string; failures: number }>(
      `select endpoint_id, (select count(*)::int from (
         select from webhooks.attempts attempt where ${COUNTS} limit ${FAILURE_COUNT_LIMIT}) counted) as failures
       from webhooks.endpoint_snapshots snapshot where endpoint_id = any($3::uuid[])`,
      [...this.window(), endpointIds],
    );
    return new Map(rows.map((row) => [row.endpoint_id, row.failures]));
  }

  private window(): [Date, number] {
    return [this.clock.now(), this.config.webhookDisableWindowSeconds];
  }
}
