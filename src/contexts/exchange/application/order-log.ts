import { Inject, Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { orderEvents } from '../metrics.js';

/** What lines tell of an event: nothing of who asked for the order, and not where it is paid out to. */
const TOLD = [
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

/** A line in the log for every event of an order, and a count. */
@Injectable()
export class OrderLog {
  constructor(@Inject(Log) private readonly log: Log) {}

  tell(events: readonly RecordedEvent[]): void {
    for (const { type, data, metadata } of events) {
      orderEvents.inc({ type });
      const told = Object.fromEntries(TOLD.filter((name) => name in data).map((name) => [name, data[name]]));
      const { order_id } = data;
      this.log.wideLog(type, { order_id, ...told, request_id: metadata.request_id });
    }
  }
}
