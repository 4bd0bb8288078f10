import { applyOrderEvents } from '../../src/contexts/exchange/views/order-projection.js';
import type { OrderEvent, OrderFacts } from '../../src/contexts/exchange/domain/order-events.js';
import { deriveId } from '../../src/kernel/ids.js';
import type { RecordedEvent } from '../../src/platform/event-store/port.js';
import type { Database } from '../../src/platform/postgres/database.js';

const BATCH = 5000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const ADDRESSES = 1000;

export interface SeededOrders {
  readonly keyId: string;
  /** Has a tenth of all orders. */
  readonly richUser: string;
  readonly richAddress: string;
  readonly from: Date;
  readonly until: Date;
  readonly events: number;
}

/** Orders of one key, spread evenly over 30 days: the service's own projection makes their rows and counts from events. */
export async function seedOrders(
  database: Database,
  count: number,
  progress: (text: string) => void,
): Promise<SeededOrders> {
  const keyId = deriveId('bench', 'exchange key');
  const until = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 1_234_567);
  const from = new Date(until.getTime() - DAYS * DAY_MS);
  let events = 0;
  for (let first = 0; first < count; first += BATCH) {
    progress(`${first} of ${count} orders`);
    const batch = Array.from({ length: Math.min(BATCH, count - first) }, (_, n) => {
      const at = from.getTime() + Math.floor(((first + n) / count) * (until.getTime() - from.getTime()));
      return history(facts(keyId, first + n, new Date(at).toISOString()), first + n);
    }).flat();
    events += batch.length;
    await database.transaction(async (tx) => applyOrderEvents(batch, tx));
  }
  await database.query('vacuum analyze exchange.orders, exchange.order_counts');
  return { keyId, richUser: 'user 0', richAddress: address(0), from, until, events };
}

function facts(keyId: string, n: number, at: string): OrderFacts {
  return {
    order_id: deriveId('bench', 'order', String(n)),
    key_id: keyId,
    merchant_id: deriveId('bench', 'merchant'),
    pair_id: 'USDCSOL',
    withdraw_address: address(n % 10 === 0 ? 0 : n % ADDRESSES),
    withdraw_address_tag: null,
    withdraw_address_memo: null,
    user_id: n % 2 === 0 ? `user ${n % 10 === 0 ? 0 : n}` : null,
    caller: null,
    provider: 'sandbox',
    provider_reference: String(n),
    deposit_address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    deposit_address_tag: null,
    amount_from: '100',
    amount_to: '0.512345678',
    rate: '0.00512345678',
    minimum: '10',
    maximum: '10000',
    decimals_to: 9,
    created_at: at,
    expires_at: at,
  };
}

function address(n: number): string {
  return `4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4g${String(n).padStart(4, '1')}`;
}

/** Most orders are completed, some expired, some cancelled, some pending. */
function history(made: OrderFacts, n: number): RecordedEvent[] {
  const at = made.created_at;
  const base = { order_id: made.order_id, at };
  const end: OrderEvent[] =
    n % 10 < 6
      ? [
          {
            type: 'order.processing_started.v1',
            data: { ...base, amount_from: '100', amount_to: '0.5', refundable: '0' },
          },
          {
            type: 'order.completed.v1',
            data: { ...base, amount_to: '0.5', withdraw_transaction_hash: 'hash' },
          },
        ]
      : n % 10 < 8
        ? [{ type: 'order.expired.v1', data: base }]
        : n % 10 < 9
          ? [{ type: 'order.cancelled.v1', data: { ...base, refundable: '0' } }]
          : [];
  return [{ type: 'order.created.v1' as const, data: made }, ...end].map(({ type, data }, revision) => ({
    ...{ id: made.order_id, type, metadata: {}, revision, position: '1' },
    data: data as unknown as RecordedEvent['data'],
    stream: `order-${made.order_id}`,
    recordedAt: new Date(at),
  }));
}
