import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import type { UserDeactivationStarted } from '../../users/contract.js';
import type { OnboardingEvent, Stage } from '../domain/onboarding.js';

export const PROGRESS_VIEW = subscriptionName('onboarding.progress');

type ProgressEvent =
  Exclude<OnboardingEvent, { type: 'onboarding.consent_given.v1' }> | UserDeactivationStarted;

/** The stage after each event; null: the onboarding is over. */
const STAGES = {
  'onboarding.started.v1': 'started',
  'onboarding.phone_verified.v1': 'phone_verified',
  'onboarding.details_confirmed.v1': 'details_confirmed',
  'onboarding.kyc_submitted.v1': 'kyc_submitted',
  'onboarding.kyc_passed.v1': 'kyc_passed',
  'onboarding.kyc_failed.v1': 'kyc_failed',
  'onboarding.wallet_provisioned.v1': 'wallet_provisioned',
  'onboarding.card_issued.v1': 'card_issued',
  'onboarding.card_failed.v1': 'card_failed',
  'onboarding.card_retried.v1': 'wallet_provisioned',
  'onboarding.completed.v1': null,
  'user.deactivation_started.v1': null,
} as const satisfies Readonly<Record<ProgressEvent['type'], Stage | null>>;

interface Moved {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly at: string;
  readonly reason?: string;
  readonly stage: Stage | null;
}

/** The stage of every onboarding in progress, and the time of its last event. */
export const progressProjection = subscriptionOf<ProgressEvent>({
  name: PROGRESS_VIEW,
  events: Object.keys(STAGES) as ProgressEvent['type'][],
  async apply(events, tx, schema = 'onboarding') {
    const last = new Map<string, Moved>();
    const started: Moved[] = [];
    for (const { type, data } of events) {
      const moved = { ...data, stage: STAGES[type] };
      const isStart = type === 'onboarding.started.v1';
      if (isStart) started.push(moved);
      // Events after the end of an onboarding change nothing, also within a batch.
      if (isStart || last.get(moved.user_id)?.stage !== null) last.set(moved.user_id, moved);
    }
    // Only the start inserts a row, so that a late event after the end does not.
    await tx.query(
      `insert into ${schema}.progress (user_id, merchant_id, stage, since)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) on conflict do nothing`,
      columns(started, 'user_id', 'merchant_id', 'stage', 'at'),
    );
    const all = [...last.values()];
    await tx.query(
      `update ${schema}.progress p set stage = moved.stage, since = moved.since, reason = moved.reason
       from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[]) as moved (user_id, stage, since, reason)
       where p.user_id = moved.user_id`,
      columns(
        all.filter(({ stage }) => stage !== null),
        'user_id',
        'stage',
        'at',
        'reason',
      ),
    );
    await tx.query(
      `delete from ${schema}.progress where user_id = any($1::uuid[])`,
      columns(
        all.filter(({ stage }) => stage === null),
        'user_id',
      ),
    );
  },
  tables: { schema: 'onboarding', names: ['progress'] },
});

function columns(rows: readonly Moved[], ...names: readonly (keyof Moved)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name] ?? null));
}

/** An onboarding in progress, with the work item that continues it. */
export interface InProgress {
  readonly user_id: string;
  readonly stage: Stage;
  /** Of a failed stage. */
  readonly reason: string | null;
  readonly last_error: string | null;
  /** Null: no work item exists. */
  readonly next_at: Date | null;
}

interface StageCount {
  readonly stage: Stage;
  readonly count: number;
  readonly oldest_seconds: number;
}

@Injectable()
export class Progress {
  constructor(private readonly database: Database) {}

  /** Of these users those whose onboarding is in progress. */
  async of(userIds: readonly string[]): Promise<ReadonlyMap<string, InProgress>> {
    const rows = await this.database.query<InProgress & Record<string, unknown>>(
      `select p.user_id, p.stage, p.reason, step.cause as last_error, step.due_at as next_at
       from onboarding.progress p left join work.items step on kind = 'onboarding.step' and key = p.user_id::text
       where p.user_id = any($1::uuid[])`,
      [userIds],
    );
    return new Map(rows.map((row) => [row.user_id, row]));
  }

  counts(): Promise<StageCount[]> {
    return this.database.query<StageCount & Record<string, unknown>>(
      `select stage, count(*)::int as count, extract(epoch from now() - min(since))::float8 as oldest_seconds
       from onboarding.progress group by stage`,
    );
  }
}
