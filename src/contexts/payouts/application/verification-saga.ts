import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type DerivedTables,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/work-list-check.js';
import type { UserActivated, UserEvent } from '../../users/contract.js';
import {
  PAYOUT_EVENTS,
  PAYOUT_EXPIRED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
  type PayoutExpired,
  type PayoutReceived,
  type PayoutReported,
} from '../contract.js';
import { addWallets, addWork, noteUsedTransfers, removeWork, wakeWork } from '../store/verification-list.js';

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

/** Wallets that payouts are due to, and transfers that confirmed one: both follow from the events alone. */
export const verificationTables: DerivedTables = {
  name: VERIFICATION_SAGA,
  events: ['user.activated.v1', 'payout.received.v2'],
  tables: { schema: 'payouts', names: ['wallets', 'used_transfers'] },
  apply: async (events, tx, schema) => {
    const all = events as unknown as readonly (PayoutReceived | UserActivated)[];
    const activated = all.flatMap((event) => (event.type === 'user.activated.v1' ? [event.data] : []));
    const received = all.flatMap((event) => (event.type === 'payout.received.v2' ? [event.data] : []));
    await addWallets(activated, tx, schema);
    await noteUsedTransfers(received, tx, schema);
  },
};

/** A payout that is on no list would be pending for ever. */
export const PENDING_PAYOUTS: WorkList = {
  name: VERIFICATION_SAGA,
  table: 'payouts.verifications',
  listed: 'payout_id = due.id',
  id: 'payout_id',
  begins: PAYOUT_REPORTED,
  ends: [PAYOUT_RECEIVED, PAYOUT_EXPIRED],
};

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
  await wakeWork(activated, tx);
  await addWork(reported, tx);
  await noteUsedTransfers(received, tx);
  await removeWork(
    [...received, ...expired].map((data) => data.payout_id),
    tx,
  );
}
