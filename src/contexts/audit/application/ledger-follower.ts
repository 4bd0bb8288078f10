import type { EventStore } from '../../../platform/event-store/port.js';
import type { Macs } from '../../../platform/event-store/event-mac.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { hashOfEvent } from '../domain/event-leaf.js';
import type { SignedExtent } from '../domain/signed-extent.js';
import { LedgerWriter } from '../store/ledger.js';
import type { LedgerAnchor } from './ledger-anchor.js';

export const LEDGER = subscriptionName('audit.ledger');

/** Nobody waits for a leaf; and what comes meanwhile is still at hand, so that nothing is read twice (EventFeed). */
const GATHER_MS = 40;

/** Makes every event of the log a leaf of the ledger, behind the appends, in the order of the log. */
export function ledgerFollower(
  store: Pick<EventStore, 'identity'>,
  macs: Macs,
  anchor: Pick<LedgerAnchor, 'guard'>,
  lastKnown: () => Promise<SignedExtent | null>,
): SubscriptionDefinition {
  const writer = new LedgerWriter(macs);
  return {
    name: LEDGER,
    events: [],
    wholeLog: true,
    gatherMs: GATHER_MS,
    async apply(events, tx) {
      const leaves = events.map((event) => ({ position: event.position, hash: hashOfEvent(event) }));
      const logId = await store.identity();
      await anchor.guard('follower', async () => writer.extend(tx, logId, leaves, (await lastKnown())?.size));
    },
  };
}
