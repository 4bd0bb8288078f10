import { historyRules } from '../../../kernel/history-rules.js';
import { completeDeactivation, eraseUser, startDeactivation } from './deactivation.js';
import { activateUser, createUser, user } from './user.js';

export const userHistory = historyRules(
  user,
  {
    'user.created.v1': (data, state) => {
      if (state.accountState !== 'unknown') return 'the user is created once';
      const { user_id: userId, merchant_id: merchantId, external_id: externalId } = data;
      const { phone_number: phoneNumber, email, created_at: createdAt } = data;
      return createUser({ userId, merchantId, externalId, phoneNumber, email, createdAt }, state);
    },
    'user.activated.v1': ({ issuer_wallet_address: issuerWalletAddress, activated_at: at }, state) =>
      activateUser({ issuerWalletAddress, at }, state),
    'user.deactivation_started.v1': ({ at, reason, actor }, state) =>
      startDeactivation({ at, reason, actor }, state),
    // How many payouts were pending is checked across streams.
    'user.deactivated.v1': ({ at }, state) => completeDeactivation({ pendingPayouts: 0, at }, state),
    'user.erased.v1': (data, state) => eraseUser(data, state),
  },
  {
    id: 'user_id',
    remember: (state) => {
      if (state.accountState === 'unknown') return state;
      if (state.accountState === 'erased') return { ...state, externalId: null };
      return { ...state, externalId: null, phoneNumber: '', email: null };
    },
  },
);
