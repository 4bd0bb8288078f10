import type { DomainEvent } from '../../../kernel/aggregate.js';
import { comparePositions, type EventStore } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import {
  PAYOUT_EXPIRED,
  PAYOUT_INTENDED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
  type PayoutIntent,
} from '../domain/payout-events.js';
import type { UserEvent } from '../../users/contract.js';
import { loadCounts, saveCounts, saveIntents, type UserCount } from '../store/deactivations.js';

type SagaEvent =
  | PayoutEvent
  | DomainEvent<typeof PAYOUT_INTENDED, PayoutIntent>
  | Extract<UserEvent, { type: 'user.deactivation_started.v1' | 'user.deactivated.v1' }>;

const DEACTIVATION_SAGA = subscriptionName('payouts.deactivation');

/** How each event moves the count of a user's pending payouts, or where the user is on the way out. */
const EFFECTS: Readonly<
  Record<SagaEvent['type'], { readonly pending?: 1 | -1; readonly deactivating?: boolean }>
> = {
  [PAYOUT_INTENDED]: {},
  [PAYOUT_REPORTED]: { pending: 1 },
  [PAYOUT_RECEIVED]: { pending: -1 },
  [PAYOUT_EXPIRED]: { pending: -1 },
  'user.deactivation_started.v1': { deactivating: true },
  'user.deactivated.v1': { deactivating: false },
};

const NOTHING_SEEN: UserCount = { pending: 0, deactivating: false, position: null };

/**
 * Knows which users wait to be deactivated and how many of their payouts are pending. A report checks the revision of
 * the user's stream, so every payout precedes the start of the deactivation: once that start is counted,
 * the number can only fall. On a store that is not atomic the intent of every payout does, and the payout may follow
 * until its stream is fenced (deactivation-worker.ts): so intents without a payout are kept too.
 */
export function deactivationSaga(
  wake: () => void,
  { atomic }: Pick<EventStore, 'atomic'>,
): SubscriptionDefinition {
  return subscriptionOf<SagaEvent>({
    name: DEACTIVATION_SAGA,
    events: Object.keys(EFFECTS),
    gatherMs: 200,
    async apply(events, tx) {
      const counts = await loadCounts(tx, [...new Set(events.map(({ data }) => data.user_id))]);
      const fresh = events.filter(
        ({ data, position }) => comparePositions(position, counts.get(data.user_id)?.position ?? null) > 0,
      );
      if (!atomic) await keepIntents(tx, fresh);
      for (const { type, data, position } of fresh) {
        const before = counts.get(data.user_id) ?? NOTHING_SEEN;
        // The same event may be in a batch twice.
        if (comparePositions(position, before.position) <= 0) continue;
        const { pending = 0, deactivating = before.deactivating } = EFFECTS[type];
        counts.set(data.user_id, { pending: before.pending + pending, deactivating, position });
      }
      await saveCounts(tx, counts);
    },
    afterCommit: wake,
  });
}

/** A payout is reported after it was intended, once at most: the order within a batch is known. */
async function keepIntents(tx: Transaction, events: readonly SagaEvent[]): Promise<void> {
  const open = new Map<string, string>();
  const reported: string[] = [];
  for (const { type, data } of events) {
    if (type === PAYOUT_INTENDED) open.set(data.payout_id, data.user_id);
    if (type === PAYOUT_REPORTED) reported.push(data.payout_id);
  }
  for (const id of reported) open.delete(id);
  await saveIntents(tx, open, reported);
}
