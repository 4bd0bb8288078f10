import { subscriptionOf, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import type { UserActivated } from '../../users/users.contract.js';
import {
  PAYOUT_EVENTS,
  PAYOUT_EXPIRED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
  type PayoutReported,
} from '../payouts/payout-events.js';
import {
  addVerifications,
  removeVerifications,
  VERIFICATION_SAGA,
  wakeVerifications,
} from './verification-queue.store.js';

export function verificationSaga(wake: () => void): SubscriptionDefinition {
  return subscriptionOf<PayoutEvent | UserActivated>({
    name: VERIFICATION_SAGA,
    events: ['user.activated.v1', ...PAYOUT_EVENTS],
    gatherMs: 50,
    async apply(events, tx) {
      const activated: string[] = [];
      const reported: PayoutReported['data'][] = [];
      const ended: string[] = [];
      for (const { type, data } of events) {
        if (type === 'user.activated.v1') activated.push(data.user_id);
        else if (type === PAYOUT_REPORTED) reported.push(data);
        else if (type === PAYOUT_RECEIVED || type === PAYOUT_EXPIRED) ended.push(data.payout_id);
      }
      await wakeVerifications(activated, tx);
      await addVerifications(reported, tx);
      await removeVerifications(ended, tx);
    },
    afterCommit: wake,
  });
}
