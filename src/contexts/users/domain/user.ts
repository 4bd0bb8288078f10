import type { Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireRepeatable } from '../../../kernel/repeats.js';
import type { UserCreated, UserDeactivated, UserEvent } from './user-events.js';

/** How it moves: contract.md 8.7, 8.8. */
export type AccountState = 'onboarding' | 'active' | 'deactivating' | 'deactivated';

/** When an operator did something, why, and who it was. */
export interface Act {
  readonly at: string;
  readonly reason: string;
  readonly actor: string;
}

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
      readonly deactivation: Act;
    })
  | ErasedUser;
/** A user as others see one: who is erased is there for operators alone. */
export type ExistingUser = Exclude<User, { accountState: 'unknown' | 'erased' }>;

/** What is left: nothing that tells who it was, but the merchant's own name for the person. */
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
  // Nobody is erased who is not deactivated.
  if (!('deactivation' in state)) return state;
  const { deactivation } = state;
  const left = { userId, merchantId, externalId, createdAt, issuerWalletAddress };
  return { accountState: 'erased', ...left, deactivation, erasure };
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
 * Fields are in their stored form already (application/profile.ts). A repeat for the same id finds the user there and
 * changes nothing; throws KeyOutlived when it comes too late, and `invalid_transition` when the user was erased since.
 */
export function createUser(command: Profile, state: User): UserEvent[] {
  if (state.accountState !== 'unknown') {
    requireRepeatable(state.createdAt, command.createdAt);
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

export function existing(state: User): ExistingUser {
  if (state.accountState === 'unknown') throw DomainError.notFound('User');
  if (state.accountState === 'erased') throw refused('The user is erased');
  return state;
}

export function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}
