import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type DerivedTables,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
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
import {
  addUsedTransfers,
  addVerifications,
  addWallets,
  removeVerifications,
  VERIFICATION,
  wakeVerifications,
} from '../store/pending-payouts.js';

const VERIFICATION_SAGA = subscriptionName(VERIFICATION);

/** Schedules the verification of each payout that is reported, and drops it at the payout's outcome. */
export function verificationSaga(wake: () => void): SubscriptionDefinition {
  return {
    name: VERIFICATION_SAGA,
    events: ['user.activated.v1', ...PAYOUT_EVENTS],
    gatherMs: 50,
    apply: recordVerifications,
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
    await addUsedTransfers(received, tx, schema);
  },
};

/** A payout without its item or its facts would be pending for ever. */
export const PENDING_PAYOUTS: WorkList = {
  name: VERIFICATION_SAGA,
  table: 'payouts.verifications',
  listed: `payout_id = due.id
    and exists (select from work.items where kind = '${VERIFICATION}' and key = due.id::text)`,
  id: 'payout_id',
  begins: PAYOUT_REPORTED,
  ends: [PAYOUT_RECEIVED, PAYOUT_EXPIRED],
};

export async function recordVerifications(events: readonly RecordedEvent[], tx: Transaction): Promise<void> {
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
  await wakeVerifications(activated, tx);
  await addVerifications(reported, tx);
  await addUsedTransfers(received, tx);
  await removeVerifications(
    [...received, ...expired].map((data) => data.payout_id),
    tx,
  );
}
