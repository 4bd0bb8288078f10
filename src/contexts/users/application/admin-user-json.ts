import { ApiProperty, Nested, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import type { ExistingUser } from '../domain/user.js';
import { USER_STATES, type UserRow, type UserState } from '../views/user-row.js';
import { OnboardingJson } from './onboarding-progress.js';

const PERSONAL = 'Null without the scope users_personal:read, and of an erased user.';

/** A user as operators get it (admin-api.md 3): the User of the merchant API, whose it is, and the onboarding. */
export class AdminUser {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) merchant_id!: string;
  @ApiProperty({ type: 'string', minLength: 1, nullable: true }) external_id!: string | null;
  @ApiProperty({ type: 'string', nullable: true, description: PERSONAL }) phone_number!: string | null;
  @ApiProperty({ type: 'string', nullable: true, description: PERSONAL }) email!: string | null;
  @ApiProperty(TIME) created_at!: string;
  @ApiProperty({ type: 'string', enum: USER_STATES }) account_state!: UserState;

  @ApiProperty({
    type: 'string',
    pattern: '^0x[0-9a-fA-F]{40}$',
    nullable: true,
    description: 'EIP-55 checksummed; null until the wallet is provisioned.',
  })
  issuer_wallet_address!: string | null;

  @Nested(() => OnboardingJson) onboarding!: OnboardingJson;
}

export class AdminUserResponse extends ResourceOf('user', AdminUser) {}

export class AdminUserWritten extends AdminUserResponse {
  @ApiProperty(UUID) operation_id!: string;
}

export class AdminUsersResponse extends PageOf('users', AdminUser) {}

type PersonalData = Pick<ExistingUser, 'phoneNumber' | 'email'>;

/** `personal`: null leaves it out. */
export function adminUserJson(
  row: Pick<UserRow, 'userId' | 'merchantId' | 'externalId' | 'state' | 'wallet'> & {
    readonly createdAt: Date;
  },
  personal: PersonalData | null,
  onboarding: OnboardingJson,
): AdminUser {
  return {
    id: row.userId,
    merchant_id: row.merchantId,
    external_id: row.externalId,
    phone_number: personal?.phoneNumber ?? null,
    email: personal?.email ?? null,
    created_at: row.createdAt.toISOString(),
    account_state: row.state,
    issuer_wallet_address: row.wallet,
    onboarding,
  };
}
