import type { DomainEvent, Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { historyRules } from '../../../kernel/history-rules.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';

/** `phone_number` and `email` are sealed with the person's key. */
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
export type UserActivated = DomainEvent<
  'user.activated.v1',
  { user_id: string; merchant_id: string; issuer_wallet_address: string; activated_at: string }
>;

/** `reason` and `actor` contain no personal data of the user. */
interface ActData {
  user_id: string;
  merchant_id: string;
  at: string;
  reason: string;
  actor: string;
}
export type UserDeactivationStarted = DomainEvent<'user.deactivation_started.v1', ActData>;
export type UserDeactivated = DomainEvent<'user.deactivated.v1', ActData>;

export type UserErased = DomainEvent<'user.erased.v1', ActData>;

export type UserEvent = UserCreated | UserActivated | UserDeactivationStarted | UserDeactivated | UserErased;

/** The states of an account in order (contract.md 8.7, 8.8). */
export const ACCOUNT_STATES = ['onboarding', 'active', 'deactivating', 'deactivated'] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

export const STATE_AFTER = {
  'user.created.v1': 'onboarding',
  'user.activated.v1': 'active',
  'user.deactivation_started.v1': 'deactivating',
  'user.deactivated.v1': 'deactivated',
  'user.erased.v1': 'erased',
} as const satisfies Readonly<Record<UserEvent['type'], AccountState | 'erased'>>;

type Act = Pick<ActData, 'at' | 'reason' | 'actor'>;
type Profile = UserCreated['data'];

/** The state of a user, folded from events. `phone_number` is in E.164 form. */
export type User =
  | { readonly account_state: 'unknown' }
  | (Profile & { readonly account_state: 'onboarding'; readonly issuer_wallet_address: null })
  | (Profile & { readonly account_state: 'active'; readonly issuer_wallet_address: string })
  /** The wallet is null for a user who never finished onboarding. */
  | (Profile & {
      readonly account_state: 'deactivating' | 'deactivated';
      readonly issuer_wallet_address: string | null;
      readonly deactivation: Act;
    })
  | ErasedUser;
export type ExistingUser = Exclude<User, { account_state: 'unknown' | 'erased' }>;

export interface ErasedUser extends Omit<Profile, 'phone_number' | 'email'> {
  readonly account_state: 'erased';
  readonly issuer_wallet_address: string | null;
  readonly deactivation: Act;
  readonly erasure: Act;
}

export const user: Aggregate<User, UserEvent> = {
  category: 'user',
  initial: { account_state: 'unknown' },
  evolve(state, event) {
    if (event.type === 'user.created.v1')
      return { ...event.data, account_state: 'onboarding', issuer_wallet_address: null };
    if (state.account_state === 'unknown' || state.account_state === 'erased') return state;
    switch (event.type) {
      case 'user.activated.v1': {
        const { issuer_wallet_address } = event.data;
        return { ...state, account_state: 'active', issuer_wallet_address };
      }
      case 'user.deactivation_started.v1':
      case 'user.deactivated.v1':
        return { ...state, account_state: STATE_AFTER[event.type], deactivation: toAct(event.data) };
      case 'user.erased.v1': {
        if (!('deactivation' in state)) return state;
        const { user_id, merchant_id, external_id, created_at, issuer_wallet_address, deactivation } = state;
        const rest = { user_id, merchant_id, external_id, created_at, issuer_wallet_address, deactivation };
        return { account_state: 'erased', ...rest, erasure: toAct(event.data) };
      }
      default:
        event satisfies never;
        return state;
    }
  },
};

/** The user for payouts, without personal data. */
export type Payee =
  | { readonly accountState: 'unknown' }
  | {
      readonly accountState: AccountState;
      readonly merchantId: string;
      readonly issuerWalletAddress: string | null;
    };

export const payee: Aggregate<Payee, UserEvent> = {
  category: 'user',
  initial: { accountState: 'unknown' },
  evolve(state, event) {
    if (event.type === 'user.created.v1')
      return { accountState: 'onboarding', merchantId: event.data.merchant_id, issuerWalletAddress: null };
    if (state.accountState === 'unknown' || event.type === 'user.erased.v1') return state;
    if (!(event.type in STATE_AFTER)) return state;
    const accountState = STATE_AFTER[event.type];
    if (event.type !== 'user.activated.v1') return { ...state, accountState };
    return { ...state, accountState, issuerWalletAddress: event.data.issuer_wallet_address };
  },
};

function toAct({ at, reason, actor }: Act): Act {
  return { at, reason, actor };
}

/** Creates a user from normalized fields. A repeat has no effect, or throws IdempotencyKeyExpired if late. */
export function createUser(profile: Profile, state: User): UserEvent[] {
  if (state.account_state === 'unknown') {
    const { user_id, merchant_id, external_id, phone_number, email, created_at } = profile;
    const data = { user_id, merchant_id, external_id, phone_number, email, created_at };
    return [{ type: 'user.created.v1', data }];
  }
  requireIdempotent(state.created_at, profile.created_at);
  if (state.account_state !== 'erased') return [];
  throw refused('The user who was created under this Idempotency-Key is erased; a new user needs a new key');
}

export function activateUser(
  command: Pick<UserActivated['data'], 'issuer_wallet_address' | 'activated_at'>,
  state: User,
): UserEvent[] {
  const { user_id, merchant_id, account_state } = existing(state);
  if (account_state === 'active') return [];
  if (account_state !== 'onboarding') throw refused(`A user who is ${account_state} cannot become active`);
  return [{ type: 'user.activated.v1', data: { user_id, merchant_id, ...command } }];
}

export function startDeactivation(act: Act, state: User): UserEvent[] {
  const { user_id, merchant_id, account_state } = existing(state);
  if (account_state === 'deactivating') return [];
  if (account_state === 'deactivated') throw refused('The user is deactivated already');
  return [{ type: 'user.deactivation_started.v1', data: { user_id, merchant_id, ...toAct(act) } }];
}

/** Completes a deactivation. `pendingPayouts` never rises; it is null until earlier payouts are counted. */
export function completeDeactivation(
  { pendingPayouts, at }: { pendingPayouts: number | null; at: string },
  state: User,
): UserEvent[] {
  const found = existing(state);
  const { user_id, merchant_id } = found;
  if (found.account_state === 'deactivated') return [];
  if (found.account_state !== 'deactivating')
    throw refused(`The user is ${found.account_state}: expected deactivating`);
  const counting = 'The pending payouts of the user are still being counted; try again';
  if (pendingPayouts === null) throw new DomainError('unavailable', counting);
  if (pendingPayouts > 0) throw refused(`${pendingPayouts} payouts of the user are pending`);
  return [{ type: 'user.deactivated.v1', data: { user_id, merchant_id, ...found.deactivation, at } }];
}

export function eraseUser(act: Act, state: User): UserEvent[] {
  if (state.account_state === 'erased') return [];
  const { user_id, merchant_id, account_state } = existing(state);
  if (account_state === 'deactivating')
    throw refused('The user is deactivating: wait until no payout is pending and the user is deactivated');
  if (account_state !== 'deactivated')
    throw refused(`The user is ${account_state}: deactivate the user first`);
  return [{ type: 'user.erased.v1', data: { user_id, merchant_id, ...toAct(act) } }];
}

export function existing(state: User): ExistingUser {
  if (state.account_state === 'unknown') throw DomainError.notFound('User');
  if (state.account_state === 'erased') throw refused('The user is erased');
  return state;
}

export function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}

/** Returns the streams that form the revision of a user. */
export function userStreams(userId: string): readonly string[] {
  return [`user-${userId}`, `onboarding-${userId}`];
}

export const userHistory = historyRules(
  user,
  {
    'user.created.v1': (data, state) =>
      state.account_state === 'unknown' ? createUser(data, state) : 'the user is created once',
    'user.activated.v1': ({ issuer_wallet_address, activated_at }, state) =>
      activateUser({ issuer_wallet_address, activated_at }, state),
    'user.deactivation_started.v1': startDeactivation,
    // A rule across streams verifies the pending payouts.
    'user.deactivated.v1': ({ at }, state) => completeDeactivation({ pendingPayouts: 0, at }, state),
    'user.erased.v1': eraseUser,
  },
  {
    id: 'user_id',
    remember: (state) => {
      if (state.account_state === 'unknown') return state;
      if (state.account_state === 'erased') return { ...state, external_id: null };
      return { ...state, external_id: null, phone_number: '', email: null };
    },
  },
);
