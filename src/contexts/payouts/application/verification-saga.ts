import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { UserActivated, UserEvent } from '../../users/contract.js';
import {
  PAYOUT_EVENTS,
  type PayoutEvent,
  type PayoutExpired,
  type PayoutReceived,
  type PayoutReported,
} from '../contract.js';
import { addWallets, addWork, noteUsedTransfers, removeWork } from '../store/verification-list.js';

export const VERIFICATION_SAGA = subscriptionName('payouts.verification');

/**
 * Keeps the list of payouts to look up on the chain: a report adds one, an outcome takes it off. A payout of a user
 * without a wallet rests until the wallet is there, or the window ends.
 */
export function verificationSaga(wake: () => void): SubscriptionDefinition {
  return {
    name: VERIFICATION_SAGA,
    events: ['user.activated.v1', ...PAYOUT_EVENTS],
    gatherMs: 50,
    apply: recordWork,
    afterCommit: wake,
  };
}

export async function recordWork(events: readonly RecordedEvent[], tx: Transaction): Promise<void> {
  const activated: UserActivated['data'][] = [];
  const reported: PayoutReported['data'][] = [];
  const received: PayoutReceived['data'][] = [];
  const expired: PayoutExpired['data'][] = [];
  for (const recorded of events) {
    const event = recorded as unknown as PayoutEvent | UserEvent;
    if (event.type === 'user.activated.v1') activated.push(event.data);
    else if (event.type === 'payout.reported.v1') reported.push(event.data);
    else if (event.type === 'payout.received.v2') received.push(event.data);
    else if (event.type === 'payout.expired.v1') expired.push(event.data);
  }
  await addWallets(activated, tx);
  await addWork(reported, tx);
  await noteUsedTransfers(received, tx);
  await removeWork(
    [...received, ...expired].map((data) => data.payout_id),
    tx,
  );
}
