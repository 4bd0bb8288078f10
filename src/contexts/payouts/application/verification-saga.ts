import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionOf,
  type DerivedTables,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import type { UserActivated } from '../../users/contract.js';
import {
  PAYOUT_EVENTS,
  PAYOUT_EXPIRED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
  type PayoutReceived,
} from '../domain/payout-events.js';
import {
  addUsedTransfers,
  addVerifications,
  removeVerifications,
  VERIFICATION_SAGA,
  wakeVerifications,
} from '../store/verification-queue.js';

/** Schedules the verification of each payout that is reported, and drops it at the payout's outcome. */
export function verificationSaga(wake: () => void): SubscriptionDefinition {
  return subscriptionOf<PayoutEvent | UserActivated>({
    name: VERIFICATION_SAGA,
    events: ['user.activated.v1', ...PAYOUT_EVENTS],
    gatherMs: 50,
    async apply(events, tx) {
      const activated = events.filter((event) => event.type === 'user.activated.v1');
      const reported = events.filter((event) => event.type === PAYOUT_REPORTED);
      const received = events.filter((event) => event.type === PAYOUT_RECEIVED);
      const expired = events.filter((event) => event.type === PAYOUT_EXPIRED);
      await wakeVerifications(
        activated.map(({ data }) => data.user_id),
        tx,
      );
      await addVerifications(
        reported.map(({ data }) => data),
        tx,
      );
      await addUsedTransfers(
        received.map(({ data }) => data),
        tx,
      );
      await removeVerifications(
        [...received, ...expired].map(({ data }) => data.payout_id),
        tx,
      );
    },
    afterCommit: wake,
  });
}

/** The transfers that confirmed a payout follow from the events alone. */
export const verificationTables: DerivedTables = {
  name: VERIFICATION_SAGA,
  events: [PAYOUT_RECEIVED],
  tables: { schema: 'payouts', names: ['used_transfers'] },
  apply: (events, tx, schema) => {
    const received = events as readonly (RecordedEvent & PayoutReceived)[];
    return addUsedTransfers(
      received.map(({ data }) => data),
      tx,
      schema,
    );
  },
};
