import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { SubscriptionDefinition, Transaction } from '../../../platform/projections/projection.js';
import { scheduleWork, wakeWork } from '../../../platform/work/work-items.js';
import { ORDER_EVENTS } from '../domain/order-events.js';
import { WATCH, WATCH_LINES } from '../domain/watch-schedule.js';
import { WATCH_SAGA } from '../store/open-orders.js';

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
