import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionOf,
  type DerivedTables,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { UserActivated } from '../../users/contract.js';
import {
  PAYOUT_EVENTS,
  PAYOUT_EXPIRED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
} from '../domain/payout-events.js';
import {
  addUsedTransfers,
  addVerifications,
  addWallets,
  removeVerifications,
  VERIFICATION_SAGA,
  wakeVerifications,
} from '../store/verification-queue.js';

type SagaEvent = PayoutEvent | UserActivated;

/** Schedules the verification of each payout that is reported, and drops it at the payout's outcome. */
export function verificationSaga(wake: () => void): SubscriptionDefinition {
  return subscriptionOf<SagaEvent>({
    name: VERIFICATION_SAGA,
    events: ['user.activated.v1', ...PAYOUT_EVENTS],
    gatherMs: 50,
    apply: recordVerifications,
    afterCommit: wake,
  });
}

/** Wallets that payouts are due to, and transfers that confirmed one: both follow from the events alone. */
export const verificationTables: DerivedTables = {
  name: VERIFICATION_SAGA,
  events: ['user.activated.v1', 'payout.received.v2'],
  tables: { schema: 'payouts', names: ['wallets', 'used_transfers'] },
  apply: async (events, tx, schema) => {
    const { activated, received } = byType(events as readonly (RecordedEvent & SagaEvent)[]);
    await addWallets(activated, tx, schema);
    await addUsedTransfers(received, tx, schema);
  },
};

async function recordVerifications(events: readonly SagaEvent[], tx: Transaction): Promise<void> {
  const { activated, reported, received, expired } = byType(events);
  await addWallets(activated, tx);
  await wakeVerifications(activated, tx);
  await addVerifications(reported, tx);
  await addUsedTransfers(received, tx);
  await removeVerifications(
    [...received, ...expired].map((data) => data.payout_id),
    tx,
  );
}

function byType(events: readonly SagaEvent[]) {
  const dataOf = <Type extends SagaEvent['type']>(type: Type) =>
    events.flatMap((event) =>
      event.type === type ? [event.data as Extract<SagaEvent, { type: Type }>['data']] : [],
    );
  return {
    activated: dataOf('user.activated.v1'),
    reported: dataOf(PAYOUT_REPORTED),
    received: dataOf(PAYOUT_RECEIVED),
    expired: dataOf(PAYOUT_EXPIRED),
  };
}
