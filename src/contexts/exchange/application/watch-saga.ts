import { Inject, Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { ORDER_EVENTS, type OrderFacts } from '../domain/order-events.js';
import { orderEvents } from '../metrics.js';
import { addWatches, WATCH, wakeWatches } from '../store/watches.js';

const WATCH_SAGA = subscriptionName('exchange.watch');

/** Every order is watched from its first event on, and polled again after every other event. */
export function watchSaga(afterCommit: (events: readonly RecordedEvent[]) => void): SubscriptionDefinition {
  return { name: WATCH_SAGA, events: ORDER_EVENTS, apply: recordWatches, afterCommit };
}

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
  constructor(@Inject(Log) private readonly log: Log) {}

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
