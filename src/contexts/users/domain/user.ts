import type { DomainEvent, Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';

/** `phone_number` and `email` are sealed in the store with the key of the person. */
export type UserCreated = DomainEvent<
  'user.created.v1',
  {
    user_id: string;
    merchant_id: string;
    external_id: string | null;
    phone_number: string;
    email: string | null;
    created_at: string;
  }
>;
/** `issuer_wallet_address` is EIP-55 checksummed. */
export type UserActivated = DomainEvent<
  'user.activated.v1',
  { user_id: string; merchant_id: string; issuer_wallet_address: string; activated_at: string }
>;

/** `reason` and `actor` are an operator's, without personal data of the user. */
interface ActData {
  user_id: string;
  merchant_id: string;
  at: string;
  reason: string;
  actor: string;
}
export type UserDeactivationStarted = DomainEvent<'user.deactivation_started.v1', ActData>;
/** `reason` and `actor` are those of the start. */
export type UserDeactivated = DomainEvent<'user.deactivated.v1', ActData>;

/** From here on personal data is dropped (contract.md 8.10). */
export type UserErased = DomainEvent<'user.erased.v1', ActData>;

export type UserEvent = UserCreated | UserActivated | UserDeactivationStarted | UserDeactivated | UserErased;

/** How it moves: contract.md 8.7, 8.8. */
export type AccountState = 'onboarding' | 'active' | 'deactivating' | 'deactivated';

interface Act {
  readonly at: string;
  readonly reason: string;
  readonly actor: string;
}

interface Profile {
  readonly userId: string;
  readonly merchantId: string;
  readonly externalId: string | null;
  /** E.164. */
  readonly phoneNumber: string;
  readonly email: string | null;
  readonly createdAt: string;
}

export type User =
  | { readonly accountState: 'unknown' }
  | (Profile & { readonly accountState: 'onboarding'; readonly issuerWalletAddress: null })
  | (Profile & { readonly accountState: 'active'; readonly issuerWalletAddress: string })
  /** The wallet is null when the user never finished onboarding. */
  | (Profile & {
      readonly accountState: 'deactivating' | 'deactivated';
      readonly issuerWalletAddress: string | null;
      readonly deactivation: Act;
    })
  | ErasedUser;
/** Only operators see erased users. */
export type ExistingUser = Exclude<User, { accountState: 'unknown' | 'erased' }>;

export interface ErasedUser {
  readonly accountState: 'erased';
  readonly userId: string;
  readonly merchantId: string;
  readonly externalId: string | null;
  readonly createdAt: string;
  readonly issuerWalletAddress: string | null;
  readonly deactivation: Act;
  readonly erasure: Act;
}

export const user: Aggregate<User, UserEvent> = {
  category: 'user',
  initial: { accountState: 'unknown' },
  evolve(state, event) {
    if (event.type === 'user.created.v1') return created(event.data);
    if (state.accountState === 'unknown' || state.accountState === 'erased') return state;
    switch (event.type) {
      case 'user.activated.v1':
        return { ...state, accountState: 'active', issuerWalletAddress: event.data.issuer_wallet_address };
      case 'user.deactivation_started.v1':
        return { ...state, accountState: 'deactivating', deactivation: actOf(event.data) };
      case 'user.deactivated.v1':
        return { ...state, accountState: 'deactivated', deactivation: actOf(event.data) };
      case 'user.erased.v1':
        return erased(state, actOf(event.data));
      default:
        event satisfies never;
        return state;
    }
  },
};

function actOf({ at, reason, actor }: UserDeactivated['data']): Act {
  return { at, reason, actor };
}

function erased(state: ExistingUser, erasure: Act): User {
  const { userId, merchantId, externalId, createdAt, issuerWalletAddress } = state;
  if (!('deactivation' in state)) return state;
  const { deactivation } = state;
  const rest = { userId, merchantId, externalId, createdAt, issuerWalletAddress };
  return { accountState: 'erased', ...rest, deactivation, erasure };
}

function created(data: UserCreated['data']): User {
  return {
    userId: data.user_id,
    merchantId: data.merchant_id,
    externalId: data.external_id,
    phoneNumber: data.phone_number,
    email: data.email,
    createdAt: data.created_at,
    accountState: 'onboarding',
    issuerWalletAddress: null,
  };
}

/**
 * Fields are normalized (application/profile.ts). A repeat for the same id changes nothing; it throws IdempotencyKeyExpired when it
 * comes too late, and `invalid_transition` when the user was erased.
 */
export function createUser(command: Profile, state: User): UserEvent[] {
  if (state.accountState !== 'unknown') {
    requireIdempotent(state.createdAt, command.createdAt);
    if (state.accountState === 'erased')
      throw refused(
        'The user who was created under this Idempotency-Key is erased; a new user needs a new key',
      );
    return [];
  }
  return [
    {
      type: 'user.created.v1',
      data: {
        user_id: command.userId,
        merchant_id: command.merchantId,
        external_id: command.externalId,
        phone_number: command.phoneNumber,
        email: command.email,
        created_at: command.createdAt,
      },
    },
  ];
}

export function activateUser(command: { issuerWalletAddress: string; at: string }, state: User): UserEvent[] {
  const { userId, merchantId, accountState } = existing(state);
  if (accountState === 'active') return [];
  if (accountState !== 'onboarding') throw refused(`A user who is ${accountState} cannot become active`);
  const { issuerWalletAddress, at } = command;
  return [
    {
      type: 'user.activated.v1',
      data: {
        user_id: userId,
        merchant_id: merchantId,
        issuer_wallet_address: issuerWalletAddress,
        activated_at: at,
      },
    },
  ];
}

export function existing(state: User): ExistingUser {
  if (state.accountState === 'unknown') throw DomainError.notFound('User');
  if (state.accountState === 'erased') throw refused('The user is erased');
  return state;
}

export function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}

/** The streams whose events are the revision of a user: the user's own, and that of the onboarding. */
export function userStreams(userId: string): readonly string[] {
  return [`user-${userId}`, `onboarding-${userId}`];
}
