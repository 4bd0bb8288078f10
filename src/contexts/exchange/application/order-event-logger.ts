import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { orderEvents } from '../metrics.js';

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
export class OrderEventLogger {
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
