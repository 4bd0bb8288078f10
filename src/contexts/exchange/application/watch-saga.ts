import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { scheduleWork, wakeWork } from '../../../platform/work/work-items.js';
import { ORDER_EVENTS } from '../domain/order-events.js';
import { WATCH, WATCH_LINES } from '../domain/watch-schedule.js';
import { orderEvents } from '../metrics.js';

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

/** Fields that are logged: neither who an order is for, nor where it is paid out to. */
const LOGGED = [
  'key_id',
  'merchant_id',
  'pair_id',
  'provider',
  'provider_reference',
  'deposit_address',
  'amount',
  'amount_from',
  'amount_to',
  'refundable',
  'count',
  'reason',
  'outcome',
  'transaction_hash',
  'withdraw_transaction_hash',
  'refund_transaction_hash',
  'actor',
];

/** Logs and counts every event of an order. */
@Injectable()
export class OrderLog {
  constructor(private readonly log: Log) {}

  record(events: readonly RecordedEvent[]): void {
    for (const { type, data, metadata } of events) {
      orderEvents.inc({ type });
      const fields = Object.fromEntries(
        LOGGED.filter((name) => name in data).map((name) => [name, data[name]]),
      );
      const { order_id } = data;
      this.log.wideLog(type, { order_id, ...fields, request_id: metadata.request_id });
    }
  }
}
