import { Injectable } from '@nestjs/common';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import {
  OnboardingProgress,
  type OnboardedUser,
  type OnboardingJson,
  type UserDeactivationStarted,
} from '../../users/users.contract.js';
import { oldestOnboarding, onboardings } from '../onboarding.metrics.js';
import { AUTOMATIC, STAGE_AFTER, type OnboardingEvent, type Stage } from './onboarding.js';

const MEASURED_EVERY_MS = 15_000;

const PROGRESS_VIEW = subscriptionName('onboarding.progress');

type ProgressEvent =
  Exclude<OnboardingEvent, { type: 'onboarding.consent_given.v1' }> | UserDeactivationStarted;

/** The stage after each event, or null after the end of the onboarding. */
const STAGES = { ...STAGE_AFTER, 'onboarding.completed.v1': null, 'user.deactivation_started.v1': null };
const EVENTS = Object.keys(STAGES).filter((type) => type !== 'onboarding.consent_given.v1');

interface Moved {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly at: string;
  readonly reason?: string;
  readonly stage: Stage | null;
}

/** The projection of unfinished onboardings: stage, time of the last event and reason. */
export const progressProjection = subscriptionOf<ProgressEvent>({
  name: PROGRESS_VIEW,
  events: EVENTS as ProgressEvent['type'][],
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
      columnArrays(started, 'user_id', 'merchant_id', 'stage', 'at'),
    );
    const moves = [...last.values()];
    const open = moves.filter(({ stage }) => stage !== null);
    await tx.query(
      `update ${schema}.progress p set stage = moved.stage, since = moved.since, reason = moved.reason
       from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[]) as moved (user_id, stage, since, reason)
       where p.user_id = moved.user_id`,
      columnArrays(open, 'user_id', 'stage', 'at', 'reason'),
    );
    const over = moves.filter(({ stage }) => stage === null);
    await tx.query(
      `delete from ${schema}.progress where user_id = any($1::uuid[])`,
      columnArrays(over, 'user_id'),
    );
  },
  tables: { schema: 'onboarding', names: ['progress'] },
});

interface InProgress extends Record<string, unknown> {
  readonly stage: Stage;
  readonly reason: string | null;
  readonly last_error: string | null;
  /** The time of the next attempt, or null without a work item. */
  readonly next_at: Date | null;
}

@Injectable()
export class Progress extends OnboardingProgress {
  constructor(
    private readonly database: Database,
    private readonly views: SubscriptionProgress,
  ) {
    super();
  }

  async of(users: readonly OnboardedUser[]): Promise<readonly OnboardingJson[]> {
    await this.views.waitUntilCurrent(PROGRESS_VIEW);
    const rows = await this.database.query<InProgress & { readonly user_id: string }>(
      `select p.user_id, p.stage, p.reason, step.cause as last_error, step.due_at as next_at
       from onboarding.progress p left join work.items step on kind = 'onboarding.step' and key = p.user_id::text
       where p.user_id = any($1::uuid[])`,
      [users.map(({ id }) => id)],
    );
    const open = new Map(rows.map((row) => [row.user_id, row]));
    return users.map((user) => onboardingJson(user, open.get(user.id)));
  }

  @Periodic({ name: 'count of onboardings', everyMs: MEASURED_EVERY_MS })
  async measure(): Promise<void> {
    const counts = await this.database.query<{ stage: Stage; count: number; oldest_seconds: number }>(
      `select stage, count(*)::int as count, extract(epoch from now() - min(since))::float8 as oldest_seconds
       from onboarding.progress group by stage`,
    );
    // A stage without onboardings must not keep its last count.
    onboardings.reset();
    oldestOnboarding.reset();
    for (const { stage, count, oldest_seconds } of counts) {
      onboardings.set({ stage }, count);
      oldestOnboarding.set({ stage }, oldest_seconds);
    }
  }
}

/** Returns the onboarding of a user. `row` is undefined before its start and after its end. */
export function onboardingJson(
  { account_state: state, issuer_wallet_address: wallet }: Omit<OnboardedUser, 'id'>,
  row: InProgress | undefined,
): OnboardingJson {
  if (row !== undefined && (state === 'onboarding' || state === 'active')) {
    const waiting_for = waitsFor(row);
    const isAutomatic = waiting_for !== 'person' && waiting_for !== 'operator';
    return {
      stage: row.stage,
      waiting_for,
      reason: row.reason ?? row.last_error,
      next_at: isAutomatic ? (row.next_at?.toISOString() ?? null) : null,
    };
  }
  const over = { reason: null, next_at: null };
  if (state === 'onboarding') return { stage: 'not_started', waiting_for: 'person', ...over };
  return { stage: wallet === null ? 'ended' : 'completed', waiting_for: 'nothing', ...over };
}

function waitsFor({ stage, last_error, next_at }: InProgress): OnboardingJson['waiting_for'] {
  if (stage === 'completed') return 'nothing';
  // The person retries a failed identity or card.
  if (!AUTOMATIC.includes(stage)) return 'person';
  if (next_at === null) return 'operator';
  if (stage === 'card_issued') return 'service';
  return stage === 'kyc_submitted' && last_error === null ? 'review' : 'provider';
}
