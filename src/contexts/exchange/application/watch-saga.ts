import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
import { scheduleWork, wakeWork } from '../../../platform/jobs/work-items.js';
import { ORDER_EVENTS } from '../domain/order-events.js';
import { WATCH, WATCH_LINES } from '../domain/watch-schedule.js';

/** The subscription that keeps the list of open orders. */
const WATCH_SAGA = subscriptionName('exchange.watch');

/** An order that is not on the list would stay open for ever. */
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

/** Every order is watched from its first event on until no poll can change it, and polled at once after every other event. */
export function watchSaga(afterCommit: (events: readonly RecordedEvent[]) => void): SubscriptionDefinition {
  return { name: WATCH_SAGA, events: ORDER_EVENTS, apply: recordWatches, afterCommit };
}

export async function recordWatches(events: readonly RecordedEvent[], tx: Transaction): Promise<void> {
  const created = events.filter(({ type }) => type === 'order.created.v1');
  await scheduleWork(
    tx,
    WATCH,
    created.map(({ data }) => ({
      key: data['order_id'] as string,
      share: data['provider'] as string,
      line: WATCH_LINES.polled,
    })),
  );
  const others = events.filter((event) => !created.includes(event));
  await wakeWork(
    tx,
    WATCH,
    others.map(({ data }) => data['order_id'] as string),
    WATCH_LINES.woken,
  );
}
