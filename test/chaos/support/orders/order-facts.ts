import type pg from 'pg';
import type { OrderStatus } from '../../../../src/contexts/exchange/domain/order-events.js';
import { fromMinorUnits, toMinorUnits } from '../../../../src/kernel/money.js';
import { Tally, type Verdict } from '../verdict.js';

/** What every order of the suites sells. */
export const SALE = {
  pair_id: 'USDCSOL',
  withdraw_address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
};

/** An order as a response has it. */
export interface Order {
  readonly id: string;
  readonly status: OrderStatus;
  readonly amount_from: string;
  readonly deposit_address: string;
  readonly expires_at: string;
}

/** A transfer to an order's address that will be or was confirmed. */
export interface Sent {
  readonly orderId: string;
  readonly hash: string;
  /** 0.000001 USDC. */
  readonly minor: bigint;
}

/** An order of the read model in the end, and what the sandbox provider has of it. */
interface Ended {
  readonly id: string;
  readonly status: OrderStatus;
  readonly amount_from: string;
  readonly amount_to: string;
  readonly amount_received: string;
  readonly amount_refundable: string;
  readonly settled_amount_to: string | null;
  readonly is_cancelled: boolean;
}

const FINAL: readonly OrderStatus[] = ['completed', 'cancelled', 'expired', 'failed', 'refunded'];

/** Whether every order has ended, every transfer is recorded, and the read models are up to date. */
export async function ordersSettled(pool: pg.Pool, sent: readonly Sent[]): Promise<boolean> {
  const { rows } = await pool.query<{ open: number; recorded: number; behind: number }>(
    `select (select count(*)::int from exchange.orders where status < 3) as open,
       (select count(distinct data::json->>'transaction_hash')::int from event_store.events
        where type in ('order.deposit_received.v1', 'order.late_deposit_recorded.v1')) as recorded,
       (select count(*)::int from event_store.checkpoints
        where name like 'exchange.%' and (position is null or position::bigint <
          (select coalesce(max(position), 0) from event_store.events where stream like 'order-%'))) as behind`,
  );
  const { open, recorded, behind } = rows[0]!;
  return open === 0 && behind === 0 && recorded >= new Set(sent.map(({ hash }) => hash)).size;
}

/** Each transfer is recorded once, for its order; what came was exchanged or is refundable; what was exchanged is paid out once. */
export async function checkMoney(
  pool: pg.Pool,
  sent: readonly Sent[],
  verdict: Verdict,
  say: (line: string) => void,
): Promise<void> {
  const { rows: recorded } = await pool.query<{
    order_id: string;
    hash: string;
    amount: string;
    type: string;
  }>(
    `select type, data::json->>'order_id' as order_id, data::json->>'transaction_hash' as hash, data::json->>'amount' as amount
     from event_store.events where type in ('order.deposit_received.v1', 'order.late_deposit_recorded.v1')`,
  );
  const due = new Map(sent.map((each) => [each.hash, each]));
  verdict.none(
    recorded.filter(({ order_id, hash, amount }) => {
      const transfer = due.get(hash);
      return transfer?.orderId !== order_id || transfer.minor !== toMinorUnits(amount);
    }),
    'a deposit is recorded that was never sent, or differs from what was sent',
  );
  verdict.equal(recorded.length, sent.length, 'deposits recorded, one per transfer');
  verdict.equal(new Set(recorded.map(({ hash }) => hash)).size, sent.length, 'transfers recorded');

  const orders = await endedOrders(pool);
  verdict.none(
    orders.filter(({ status }) => !FINAL.includes(status)),
    'an order has not ended',
  );
  const came = new Map<string, bigint>();
  for (const { orderId, minor } of sent) came.set(orderId, (came.get(orderId) ?? 0n) + minor);
  verdict.none(
    orders.filter((order) => accountedFor(order) !== (came.get(order.id) ?? 0n)),
    'what came to an order is not what was exchanged and what is refundable',
  );
  verdict.none(
    orders.filter(
      ({ status, amount_to, settled_amount_to }) =>
        (status === 'completed') !== (settled_amount_to !== null) ||
        (settled_amount_to !== null && settled_amount_to !== amount_to),
    ),
    'an order is completed and not paid out, or paid out otherwise',
  );
  verdict.none(
    orders.filter(({ status, is_cancelled }) => status === 'completed' && is_cancelled),
    'an order is completed and was withdrawn at the provider',
  );
  const statuses = new Tally();
  for (const { status } of orders) statuses.add(status);
  const late = recorded.filter(({ type }) => type === 'order.late_deposit_recorded.v1').length;
  const total = fromMinorUnits([...came.values()].reduce((sum, each) => sum + each, 0n));
  say(`orders ${orders.length}: ${statuses.toString()}`);
  say(`money  ${total} USDC in ${sent.length} transfers, ${late} of them late`);
}

function accountedFor({ status, amount_from, amount_refundable }: Ended): bigint {
  const exchanged = status === 'completed' ? toMinorUnits(amount_from) : 0n;
  return exchanged + toMinorUnits(amount_refundable);
}

async function endedOrders(pool: pg.Pool): Promise<readonly Ended[]> {
  const { rows } = await pool.query<{
    body: string;
    settled_amount_to: string | null;
    is_cancelled: boolean;
  }>(
    `select body, settled_amount_to, cancelled_at is not null as is_cancelled
     from exchange.orders left join exchange.sandbox_orders on order_id = id`,
  );
  return rows.map(({ body, ...provider }) => ({ ...(JSON.parse(body) as Ended), ...provider }));
}

/** Which statuses each order went through, by its events. */
export async function historiesOf(pool: pg.Pool): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { rows } = await pool.query<{ id: string; types: string[] }>(
    `select substr(stream, 7) as id, array_agg(type) as types from event_store.events
     where stream like 'order-%' group by stream`,
  );
  return new Map(
    rows.map(({ id, types }) => [id, new Set(types.flatMap((type) => STATUS_AFTER[type] ?? []))]),
  );
}

const STATUS_AFTER: Readonly<Record<string, OrderStatus>> = {
  'order.created.v1': 'pending',
  'order.marked_as_paid.v1': 'paid',
  'order.processing_started.v1': 'processing',
  'order.completed.v1': 'completed',
  'order.cancelled.v1': 'cancelled',
  'order.expired.v1': 'expired',
  'order.failed.v1': 'failed',
  'order.refunded.v1': 'refunded',
};
