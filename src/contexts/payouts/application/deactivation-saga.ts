import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import {
  PAYOUT_EXPIRED,
  PAYOUT_INTENDED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutIntent,
} from '../contract.js';
import { loadCounts, saveCounts, saveIntents, type UserCount } from '../store/deactivations.js';

export const DEACTIVATION_SAGA = subscriptionName('users.deactivation');

/** How each event moves the count of a user's pending payouts, or where the user is on the way out. */
const EFFECTS: Readonly<Record<string, { readonly pending?: 1 | -1; readonly deactivating?: boolean }>> = {
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
  return {
    name: DEACTIVATION_SAGA,
    events: Object.keys(EFFECTS),
    gatherMs: 200,
    async apply(events, tx) {
      const before = await loadCounts(tx, [...new Set(events.map(userOf))]);
      if (!atomic)
        await keepIntents(
          tx,
          events.filter((event) => isNew(event, before)),
        );
      await saveCounts(tx, count(events, before));
    },
    afterCommit: wake,
  };
}

function userOf(event: RecordedEvent): string {
  return (event.data as { readonly user_id: string }).user_id;
}

function count(events: readonly RecordedEvent[], rows: Map<string, UserCount>): Map<string, UserCount> {
  for (const event of events) {
    const effect = EFFECTS[event.type];
    const row = rows.get(userOf(event)) ?? NOTHING_SEEN;
    if (effect === undefined || !isNew(event, rows)) continue;
    rows.set(userOf(event), {
      pending: row.pending + (effect.pending ?? 0),
      deactivating: effect.deactivating ?? row.deactivating,
      position: event.position,
    });
  }
  return rows;
}

function isNew(event: RecordedEvent, rows: ReadonlyMap<string, UserCount>): boolean {
  return comparePositions(event.position, rows.get(userOf(event))?.position ?? null) > 0;
}

/** A payout is reported after it was intended, once at most: the order within a batch is known. */
async function keepIntents(tx: Transaction, events: readonly RecordedEvent[]): Promise<void> {
  const open = new Map<string, string>();
  const reported: string[] = [];
  for (const { type, data } of events) {
    const { payout_id, user_id } = data as unknown as PayoutIntent;
    if (type === PAYOUT_INTENDED) open.set(payout_id, user_id);
    if (type === PAYOUT_REPORTED) reported.push(payout_id);
  }
  for (const id of reported) open.delete(id);
  await saveIntents(tx, open, reported);
}
