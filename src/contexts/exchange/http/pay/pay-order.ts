import { isAtLeast, minus } from '../../../../kernel/decimal.js';
import type { OrderRecord } from '../../domain/order-record.js';
import type { PayOrder } from './page-types.js';

const FINAL: ReadonlySet<string> = new Set(['completed', 'cancelled', 'expired', 'failed', 'refunded']);

/** contract.md 23.1. */
export function isFinal({ status }: Pick<OrderRecord, 'status'>): boolean {
  return FINAL.has(status);
}

/** The order as the page is told of it; `now` in epoch ms. */
export function payOrder(record: OrderRecord, now: number): PayOrder {
  const { amount_from: asked, amount_received: received } = record;
  const missing = isAtLeast(received, asked) ? '0' : minus(asked, received);
  return { order: record, missing, is_final: isFinal(record), now };
}
