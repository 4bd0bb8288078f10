import type { AccountState, ExistingUser } from '../domain/user.js';

/** The User resource (contract.md 8), fields in the order of the API. */
export interface UserJson {
  readonly id: string;
  readonly external_id: string | null;
  readonly phone_number: string;
  readonly email: string | null;
  readonly created_at: string;
  readonly account_state: AccountState;
  readonly issuer_wallet_address: string | null;
}

export function userJson(user: ExistingUser): UserJson {
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
