import { ApiProperty, Nested, PageOf, ResourceOf } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { ACCOUNT_STATES, type AccountState, type ExistingUser } from './user.js';
import { USER_STATES, type UserRow, type UserState } from './users.view.js';

const WALLET = {
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{40}$',
  nullable: true,
  description: 'EIP-55 checksummed; null until the wallet is provisioned.',
};

/** The User resource (contract.md 8), in the field order of the API. */
class User {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string', minLength: 1, nullable: true }) external_id!: string | null;
  @ApiProperty({ type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$' }) phone_number!: string;
  @ApiProperty({ type: 'string', nullable: true }) email!: string | null;
  @ApiProperty(TIME) created_at!: string;
  @ApiProperty({ type: 'string', enum: ACCOUNT_STATES }) account_state!: AccountState;

  @ApiProperty(WALLET)
  issuer_wallet_address!: string | null;
}

export class UserResponse extends ResourceOf('user', User) {}

export function userJson(user: ExistingUser): User {
  const { user_id: id, external_id, phone_number, email, created_at } = user;
  const { account_state, issuer_wallet_address } = user;
  return { id, external_id, phone_number, email, created_at, account_state, issuer_wallet_address };
}

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

export type OnboardedUser = Pick<UserRow, 'id' | 'account_state' | 'issuer_wallet_address'>;

/** The port for the progress of onboardings, which the onboarding context implements. */
export abstract class OnboardingProgress {
  abstract of(users: readonly OnboardedUser[]): Promise<readonly OnboardingJson[]>;
}

const PERSONAL = 'Null without the scope users_personal:read, and of an erased user.';

/** The user resource for operators (admin-api.md 3). */
export class AdminUser {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) merchant_id!: string;
  @ApiProperty({ type: 'string', minLength: 1, nullable: true }) external_id!: string | null;
  @ApiProperty({ type: 'string', nullable: true, description: PERSONAL }) phone_number!: string | null;
  @ApiProperty({ type: 'string', nullable: true, description: PERSONAL }) email!: string | null;
  @ApiProperty(TIME) created_at!: Date | string;
  @ApiProperty({ type: 'string', enum: USER_STATES }) account_state!: UserState;

  @ApiProperty(WALLET)
  issuer_wallet_address!: string | null;

  @Nested(() => OnboardingJson) onboarding!: OnboardingJson;
}

export class AdminUserResponse extends ResourceOf('user', AdminUser) {}

export class AdminUserWritten extends AdminUserResponse {
  @ApiProperty(UUID) operation_id!: string;
}

export class AdminUsersResponse extends PageOf('users', AdminUser) {}
