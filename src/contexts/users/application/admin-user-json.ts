import { ApiProperty, Nested, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { USER_STATES, type UserState } from '../views/users-projection.js';
import type { UserRow } from '../views/users.js';
import { OnboardingJson } from './onboarding-progress.js';

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
