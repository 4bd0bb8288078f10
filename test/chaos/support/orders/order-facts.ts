import type pg from 'pg';
import type { OrderStatus } from '../../../../src/contexts/exchange/orders/order-events.js';
import { fromMinorUnits, toMinorUnits } from '../../../../src/kernel/money.js';
import type { Treasury } from '../treasury.js';
import { Tally, type Verdict } from '../verdict.js';

export const SALE = {
  pair_id: 'USDCSOL',
  withdraw_address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
};

export interface Order {
  readonly id: string;
  readonly status: OrderStatus;
  readonly amount_from: string;
  readonly deposit_address: string;
  readonly expires_at: string;
}

/** A transfer to an order's address that is or will be confirmed. */
export interface Sent {
  readonly orderId: string;
  readonly hash: string;
  /** Minor units of USDC. */
  readonly minor: bigint;
}

/** Sends `hundredths` of the order's amount to its address. */
export async function payShare(
  treasury: Treasury,
  { id: orderId, amount_from, deposit_address }: Pick<Order, 'id' | 'amount_from' | 'deposit_address'>,
  hundredths: number,
): Promise<Sent> {
  const minor = (toMinorUnits(amount_from) * BigInt(hundredths)) / 100n;
  return { orderId, minor, hash: await treasury.transfer(deposit_address, Number(minor)) };
}

/** The final state of an order in a response, for operators, and at the sandbox provider. */
interface Ended {
  readonly id: string;
  readonly status: OrderStatus;
  readonly amount_from: string;
  readonly amount_to: string;
  readonly amount_refundable: string;
  readonly refundable: string;
  readonly shortfall: string;
  readonly settled_amount_to: string | null;
  readonly is_cancelled: boolean;
}

type OrderBody = Pick<Ended, 'status' | 'amount_from' | 'amount_to' | 'amount_refundable'>;

interface DepositEvent {
  readonly type: string;
  readonly order_id: string;
  readonly deposit_id: string;
  readonly hash: string;
  readonly amount: string;
}

const FINAL: readonly OrderStatus[] = ['completed', 'cancelled', 'expired', 'failed', 'refunded'];

/** Returns whether every order has ended, every transfer is recorded, and the read models are up to date. */
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

/**
 * `sent` has all transfers to orders on the final chain. Each is recorded once, for its order. It was
 * exchanged and paid out once, or it is refundable.
 */
export async function checkMoney(
  pool: pg.Pool,
  sent: readonly Sent[],
  verdict: Verdict,
  say: (line: string) => void,
): Promise<void> {
  const { rows: events } = await pool.query<DepositEvent>(
    `select type, data::json->>'order_id' as order_id, data::json->>'deposit_id' as deposit_id,
       data::json->>'transaction_hash' as hash, data::json->>'amount' as amount
     from event_store.events where type in ('order.deposit_received.v1', 'order.late_deposit_recorded.v1',
       'order.deposit_missing.v1', 'order.dust_recorded.v1') order by position`,
  );
  const recorded = new Map<string, DepositEvent>();
  const dusty = new Set<string>();
  for (const event of events) {
    if (event.type === 'order.dust_recorded.v1') dusty.add(event.order_id);
    else if (event.type === 'order.deposit_missing.v1') recorded.delete(event.deposit_id);
    else recorded.set(event.deposit_id, event);
  }
  const deposits = [...recorded.values()].map((each) => ({
    orderId: each.order_id,
    hash: each.hash,
    minor: toMinorUnits(each.amount),
  }));
  // The order's sum alone contains very small deposits.
  const lines = (transfers: readonly Sent[]): string =>
    transfers
      .filter(({ orderId }) => !dusty.has(orderId))
      .map(({ orderId, hash, minor }) => `${orderId} ${hash} ${minor}`)
      .sort()
      .join('\n');
  verdict.equal(
    lines(deposits),
    lines(sent),
    'deposits recorded and not missing are the transfers that came',
  );

  const { rows } = await pool.query<Omit<Ended, keyof OrderBody> & { readonly body: string }>(
    `select id, body, refundable::text, shortfall::text, settled_amount_to, cancelled_at is not null as is_cancelled
     from exchange.orders left join exchange.sandbox_orders on order_id = id`,
  );
  const orders = rows.map(({ body, ...row }): Ended => ({ ...(JSON.parse(body) as OrderBody), ...row }));
  const none = (isWrong: (order: Ended) => boolean, fact: string): void =>
    verdict.none(fact, orders, isWrong);
  const came = new Map<string, bigint>();
  for (const { orderId, minor } of sent) came.set(orderId, (came.get(orderId) ?? 0n) + minor);
  none(({ status }) => !FINAL.includes(status), 'an order has not ended');
  none(
    (order) => accountedFor(order) !== (came.get(order.id) ?? 0n),
    'what was exchanged and what is refundable, less what is missing, is not what came',
  );
  none(
    (order) => toMinorUnits(order.refundable) !== toMinorUnits(order.amount_refundable),
    'operators see another refundable amount',
  );
  none(
    ({ status, amount_to, settled_amount_to }) =>
      settled_amount_to !== (status === 'completed' ? amount_to : null),
    'an order is completed and not paid out, or paid out otherwise',
  );
  none(
    ({ status, is_cancelled }) => status === 'completed' && is_cancelled,
    'an order is completed and was withdrawn at the provider',
  );
  const statuses = new Tally();
  for (const { status } of orders) statuses.add(status);
  const total = fromMinorUnits([...came.values()].reduce((sum, each) => sum + each, 0n));
  say(`orders ${orders.length}: ${statuses.toString()}`);
  say(`money  ${total} USDC in ${sent.length} transfers; ${events.length} events of deposits`);
}

function accountedFor({ status, amount_from, amount_refundable, shortfall }: Ended): bigint {
  const exchanged = status === 'completed' ? toMinorUnits(amount_from) : 0n;
  return exchanged + toMinorUnits(amount_refundable) - toMinorUnits(shortfall);
}

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
