import type { PoolClient } from 'pg';
import { fold } from '../../../kernel/aggregate.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { ORDER_EVENTS, ORDER_STATUSES, type OrderEvent, type OrderStatus } from '../domain/order-events.js';
import { plainHash } from '../domain/addresses.js';
import { orderRecord } from '../domain/order-record.js';
import { amountRefundable, order, shortfall, type ExistingOrder } from '../domain/order.js';

/** Name of the checkpoint that a list waits for. */
export const ORDER_VIEWS = subscriptionName('exchange.views');

export const orderViews: SubscriptionDefinition = {
  name: ORDER_VIEWS,
  events: ORDER_EVENTS,
  // Lists wait for it, orders do not: under load a little more in a batch costs much less.
  gatherMs: 20,
  staysSealed: true,
  apply: applyOrderEvents,
  tables: { schema: 'exchange', names: ['orders'], json: ['events'] },
};

/**
 * What the read model keeps of an order. Its events and not its state: that may have another shape in the next version,
 * which folds the same events.
 */
interface KnownOrder {
  /** Of the last event. */
  readonly revision: number;
  readonly events: readonly OrderEvent[];
}

/** Two statements, however many events. */
export async function applyOrderEvents(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema = 'exchange',
): Promise<void> {
  const orders = await knownOrders(events, tx, schema);
  const changed = new Set<string>();
  for (const { revision, type, data } of events) {
    const id = data['order_id'] as string;
    const { revision: last, events: before } = orders.get(id) ?? { revision: -1, events: [] };
    if (revision <= last) continue;
    orders.set(id, { revision, events: [...before, { type, data } as unknown as OrderEvent] });
    changed.add(id);
  }
  await write(
    [...changed].map((id) => orders.get(id)!),
    tx,
    schema,
  );
}

async function knownOrders(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema: string,
): Promise<Map<string, KnownOrder>> {
  const { rows } = await tx.query<{ id: string; revision: string; events: string }>(
    `select id, revision, events from ${schema}.orders where id = any($1::uuid[])`,
    [[...new Set(events.map(({ data }) => data['order_id']))]],
  );
  return new Map(
    rows.map(({ id, revision, events: text }) => [
      id,
      { revision: Number(revision), events: JSON.parse(text) as OrderEvent[] },
    ]),
  );
}

async function write(changed: readonly KnownOrder[], tx: PoolClient, schema: string): Promise<void> {
  const orders = changed.flatMap(({ revision, events }) => {
    const state = fold(order, events);
    return state.status === 'none' ? [] : [{ revision, events: JSON.stringify(events), ...rowOf(state) }];
  });
  if (orders.length === 0) return;
  await tx.query(
    `insert into ${schema}.orders (id, key_id, merchant_id, user_hash, withdraw_address, status, created_at, refundable, shortfall,
       search_keys, revision, events, body)
     select * from json_to_recordset($1) as changed (id uuid, key_id uuid, merchant_id uuid, user_hash text,
       withdraw_address text, status smallint, created_at timestamptz, refundable numeric, shortfall numeric, search_keys text[], revision bigint,
       events text, body text)
     on conflict (id) do update set user_hash = excluded.user_hash, status = excluded.status,
       refundable = excluded.refundable, shortfall = excluded.shortfall, search_keys = excluded.search_keys, revision = excluded.revision,
       events = excluded.events, body = excluded.body`,
    [JSON.stringify(orders)],
  );
}

/** `body`: the order as the API displays it, but for personal fields, which are sealed. */
function rowOf(state: ExistingOrder) {
  const { order_id: id, key_id, merchant_id, user_hash, withdraw_address, created_at } = state.facts;
  return {
    id,
    key_id,
    merchant_id,
    user_hash,
    withdraw_address,
    created_at,
    status: statusNumber(state.status),
    refundable: amountRefundable(state),
    shortfall: shortfall(state),
    search_keys: searchKeys(state),
    body: JSON.stringify(orderRecord(state)),
  };
}

function searchKeys(state: ExistingOrder): readonly string[] {
  const transfers = [...state.deposits, ...state.lateDeposits, ...state.refunds];
  const hashes = transfers.map(({ transaction_hash }) => transaction_hash);
  const others = [state.facts.deposit_address, state.withdrawTransactionHash, state.refundTransactionHash];
  return [...new Set([...others, ...hashes].filter((key) => key !== null).map(plainHash))];
}

/** The number of a status in `exchange.orders.status`. */
export function statusNumber(status: OrderStatus): number {
  return ORDER_STATUSES.indexOf(status);
}
