import type { EventStore } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { hashOfEvent } from '../domain/event-leaf.js';
import { LedgerWriter } from '../store/ledger.js';

export const LEDGER = subscriptionName('audit.ledger');

/** Nobody waits for a leaf; and what comes meanwhile is still at hand, so that nothing is read twice (EventFeed). */
const GATHER_MS = 40;

/** Makes every event of the log a leaf of the ledger, behind the appends, in the order of the log. */
export function ledgerFollower(store: Pick<EventStore, 'identity'>): SubscriptionDefinition {
  const writer = new LedgerWriter();
  return {
    name: LEDGER,
    events: [],
    wholeLog: true,
    gatherMs: GATHER_MS,
    async apply(events, tx) {
      const leaves = events.map((event) => ({ position: event.position, hash: hashOfEvent(event) }));
      await writer.extend(tx, await store.identity(), leaves);
    },
  };
}
