import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/work-list-check.js';
import { ORDER_EVENTS, type OrderFacts } from '../domain/order-events.js';
import { addWatches, WATCH, wakeWatches } from '../store/watches.js';

export const WATCH_SAGA = subscriptionName('exchange.watch');

/** Every order is watched from its first event on, and looked at anew after each other. */
export function watchSaga(afterCommit: (events: readonly RecordedEvent[]) => void): SubscriptionDefinition {
  return { name: WATCH_SAGA, events: ORDER_EVENTS, apply: recordWatches, afterCommit };
}

/** An order that is on no list would be open for ever. */
export const OPEN_ORDERS: WorkList = {
  name: WATCH_SAGA,
  table: 'work.items',
  listed: `kind = '${WATCH}' and key = due.id::text`,
  id: 'order_id',
  begins: 'order.created.v1',
  ends: [
    'order.completed.v1',
    'order.cancelled.v1',
    'order.expired.v1',
    'order.failed.v1',
    'order.refunded.v1',
  ],
};

export async function recordWatches(events: readonly RecordedEvent[], tx: Transaction): Promise<void> {
  const created = events.filter(({ type }) => type === 'order.created.v1');
  await addWatches(
    tx,
    created.map(({ data }) => data as unknown as OrderFacts),
  );
  await wakeWatches(
    tx,
    events
      .filter((event) => !created.includes(event))
      .map(({ data }) => (data as { readonly order_id: string }).order_id),
  );
}
