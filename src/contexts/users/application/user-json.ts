import { ApiProperty, Nested, PageOf, ResourceOf } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import type { AccountState, ExistingUser } from '../domain/user.js';
import { USER_STATES, type UserRow, type UserState } from '../views/users.js';
import { OnboardingJson } from './onboarding-progress.js';

const ACCOUNT_STATES: readonly AccountState[] = ['onboarding', 'active', 'deactivating', 'deactivated'];

const WALLET = {
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{40}$',
  nullable: true,
  description: 'EIP-55 checksummed; null until the wallet is provisioned.',
};

/** The User resource (contract.md 8), fields in the order of the API. */
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
  return {
    id: user.userId,
    external_id: user.externalId,
    phone_number: user.phoneNumber,
    email: user.email,
    created_at: user.createdAt,
    account_state: user.accountState,
    issuer_wallet_address: user.issuerWalletAddress,
  };
}

const PERSONAL = 'Null without the scope users_personal:read, and of an erased user.';

/** A user as operators get it (admin-api.md 3): the User of the merchant API, whose it is, and the onboarding. */
export class AdminUser implements UserRow {
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
