import { ApiProperty } from '../../../platform/dto/field.js';
import { TIME } from '../../../platform/dto/rules.js';
import type { UserRow } from '../views/users.js';

const STAGES = [
  'not_started',
  'started',
  'phone_verified',
  'details_confirmed',
  'kyc_submitted',
  'kyc_passed',
  'kyc_failed',
  'wallet_provisioned',
  'card_failed',
  'card_issued',
  'completed',
  'ended',
] as const;

const WAITING_FOR = ['person', 'review', 'provider', 'service', 'operator', 'nothing'] as const;

/** How far the onboarding of a user is (admin-api.md 3). */
export class OnboardingJson {
  @ApiProperty({
    type: 'string',
    enum: STAGES,
    description: '`ended`: the user was deactivated before it was completed.',
  })
  stage!: (typeof STAGES)[number];

  @ApiProperty({
    type: 'string',
    enum: WAITING_FOR,
    description:
      '`person`: the user takes the next step, in the widget. `review`: the identity is under review. `provider`: a provider of identities, wallets or cards responds with errors, or was called just now. `service`: a worker takes the next step. `operator`: no worker is on it; `retry` continues it. `nothing`: it is completed or ended.',
  })
  waiting_for!: (typeof WAITING_FOR)[number];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why identity or card failed, or why the last attempt of the service did.',
  })
  reason!: string | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'When the service attempts the next step.' })
  next_at!: string | null;
}

/** A user whose onboarding is requested. */
export type OnboardedUser = Pick<UserRow, 'id' | 'account_state' | 'issuer_wallet_address'>;

/** How far onboardings are. The onboarding context provides it. */
export abstract class OnboardingProgress {
  /** In the order of the users. */
  abstract of(users: readonly OnboardedUser[]): Promise<readonly OnboardingJson[]>;
}
