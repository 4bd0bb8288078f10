import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireRepeatable } from '../../../kernel/repeats.js';

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
export type UserDeactivationStarted = DomainEvent<
  'user.deactivation_started.v1',
  { user_id: string; merchant_id: string; at: string }
>;
export type UserDeactivated = DomainEvent<
  'user.deactivated.v1',
  { user_id: string; merchant_id: string; at: string }
>;

export type UserEvent = UserCreated | UserActivated | UserDeactivationStarted | UserDeactivated;

/** Stored names of all user events. */
export const USER_EVENTS = [
  'user.created.v1',
  'user.activated.v1',
  'user.deactivation_started.v1',
  'user.deactivated.v1',
] as const satisfies readonly UserEvent['type'][];

/** How it moves: contract.md 8.7, 8.8. */
export type AccountState = 'onboarding' | 'active' | 'deactivating' | 'deactivated';

export interface Profile {
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
    });
export type ExistingUser = Exclude<User, { accountState: 'unknown' }>;

export const user: Aggregate<User, UserEvent> = {
  category: 'user',
  initial: { accountState: 'unknown' },
  evolve(state, event) {
    if (event.type === 'user.created.v1') return created(event.data);
    if (state.accountState === 'unknown') return state;
    switch (event.type) {
      case 'user.activated.v1':
        return { ...state, accountState: 'active', issuerWalletAddress: event.data.issuer_wallet_address };
      case 'user.deactivation_started.v1':
        return { ...state, accountState: 'deactivating' };
      case 'user.deactivated.v1':
        return { ...state, accountState: 'deactivated' };
      default:
        event satisfies never;
        return state;
    }
  },
};

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

/** Fields are in their stored form already (application/profile.ts). A repeat for the same id finds the user there and changes nothing; throws KeyOutlived when it comes too late. */
export function createUser(command: Profile, state: User): UserEvent[] {
  if (state.accountState !== 'unknown') {
    requireRepeatable(state.createdAt, command.createdAt);
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

/** onboarding to active, once wallet and card are there. */
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

/** onboarding or active to deactivating: from here on no payout is accepted for the user. */
export function startDeactivation(command: { at: string }, state: User): UserEvent[] {
  const { userId, merchantId, accountState } = existing(state);
  if (accountState === 'deactivating') return [];
  if (accountState === 'deactivated') throw refused('The user is deactivated already');
  return [
    {
      type: 'user.deactivation_started.v1',
      data: { user_id: userId, merchant_id: merchantId, at: command.at },
    },
  ];
}

/**
 * deactivating to deactivated. `pendingPayouts` must be counted up to the start of the deactivation or later, and is null
 * before; since then it can only fall, because no payout is accepted for a user who is deactivating.
 */
export function completeDeactivation(
  command: { pendingPayouts: number | null; at: string },
  state: User,
): UserEvent[] {
  const { userId, merchantId, accountState } = existing(state);
  if (accountState === 'deactivated') return [];
  if (accountState !== 'deactivating')
    throw refused(`A user who is ${accountState} is not being deactivated`);
  if (command.pendingPayouts === null) {
    throw new DomainError(
      'unavailable',
      'The pending payouts of the user are still being counted; try again',
    );
  }
  if (command.pendingPayouts > 0) throw refused(`${command.pendingPayouts} payouts of the user are pending`);
  return [
    { type: 'user.deactivated.v1', data: { user_id: userId, merchant_id: merchantId, at: command.at } },
  ];
}

function existing(state: User): ExistingUser {
  if (state.accountState === 'unknown') throw DomainError.notFound('User');
  return state;
}

function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}
