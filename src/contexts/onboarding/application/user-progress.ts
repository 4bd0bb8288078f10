import { Injectable } from '@nestjs/common';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { OnboardingProgress, type OnboardedUser, type OnboardingJson } from '../../users/contract.js';
import { Progress, PROGRESS_VIEW, type InProgress } from '../views/progress.js';

/** How far onboardings are, for operators. */
@Injectable()
export class UserProgress extends OnboardingProgress {
  constructor(
    private readonly progress: Progress,
    private readonly views: SubscriptionProgress,
  ) {
    super();
  }

  async of(users: readonly OnboardedUser[]): Promise<readonly OnboardingJson[]> {
    await this.views.waitUntilCurrent(PROGRESS_VIEW);
    const open = await this.progress.of(users.map(({ id }) => id));
    return users.map((user) => onboardingJson(user, open.get(user.id)));
  }
}

/** Pure. `row` is undefined where the onboarding has not begun or is over. */
export function onboardingJson(
  { account_state: state, issuer_wallet_address: wallet }: Omit<OnboardedUser, 'id'>,
  row: Omit<InProgress, 'user_id'> | undefined,
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

function waitsFor({
  stage,
  last_error,
  next_at,
}: Omit<InProgress, 'user_id'>): OnboardingJson['waiting_for'] {
  switch (stage) {
    case 'kyc_submitted':
    case 'kyc_passed':
    case 'wallet_provisioned':
    case 'card_issued':
      if (next_at === null) return 'operator';
      if (stage === 'card_issued') return 'service';
      return stage === 'kyc_submitted' && last_error === null ? 'review' : 'provider';
    case 'completed':
      return 'nothing';
    default:
      // A failed identity or card too: the person tries again, by the same link.
      return 'person';
  }
}
