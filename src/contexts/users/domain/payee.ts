import type { Aggregate } from '../../../kernel/aggregate.js';
import type { UserEvent, AccountState } from './user.js';

/** What payouts know of a user; no personal data. */
export type Payee =
  | { readonly accountState: 'unknown' }
  | {
      readonly accountState: AccountState;
      readonly merchantId: string;
      /** EIP-55 checksummed; null until the wallet is provisioned. */
      readonly issuerWalletAddress: string | null;
    };

/** The user's stream, folded to a {@link Payee}: `commandLoop.load(payee, userId)` also gives the revision to check. */
export const payee: Aggregate<Payee, UserEvent> = {
  category: 'user',
  initial: { accountState: 'unknown' },
  evolve(state, event) {
    if (event.type === 'user.created.v1') {
      return { accountState: 'onboarding', merchantId: event.data.merchant_id, issuerWalletAddress: null };
    }
    if (state.accountState === 'unknown') return state;
    switch (event.type) {
      case 'user.erased.v1':
        return state;
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
