import { comparePositions } from '../../../platform/event-store/port.js';
import { ORDER_STATUSES, type OrderStatus } from '../../exchange/contract.js';
import { orderResponseOf, orderScopes, type BookedOrder, type OrderBooks } from '../domain/order-books.js';
import type { AuditedTables, OrderRow } from '../store/audited-tables.js';
import type { Differences } from '../domain/differences.js';

/** The checkpoint that the read models of exchange orders stand at. */
export const ORDER_VIEWS = 'exchange.views';

/** The checkpoint of the list of orders that are looked at. */
const ORDER_WATCH = 'exchange.watch';
const OPEN: readonly OrderStatus[] = ['pending', 'paid', 'processing'];

const HOUR_SECONDS = 3600;

/** Compares every order and every count with the books. */
export async function compareOrders(
  tables: AuditedTables,
  { orders }: OrderBooks,
  differences: Differences,
): Promise<void> {
  const seen = new Set<string>();
  await tables.orders((row) => {
    seen.add(row.id);
    const order = orders.get(row.id);
    if (order === undefined) differences.add(`order ${row.id} has a row and no event`);
    else if (!agrees(row, order)) differences.add(`order ${row.id} has a row that differs from its events`);
  });
  for (const id of orders.keys()) if (!seen.has(id)) differences.add(`order ${id} has events and no row`);
  await compareCounts(tables, orders.values(), differences);
  await compareWatches(tables, orders, differences);
}

/** Every open order is on the list of those that are looked at: else it would be open for ever. */
async function compareWatches(
  tables: AuditedTables,
  orders: OrderBooks['orders'],
  differences: Differences,
): Promise<void> {
  const listedUpTo = await tables.checkpointOf(ORDER_WATCH);
  const listed = await tables.watchedOrders();
  for (const [id, { status, madeAt }] of orders) {
    if (OPEN.includes(status) && comparePositions(madeAt, listedUpTo) <= 0 && !listed.has(id))
      differences.add(`order ${id} is ${status}, and nobody looks for its deposit`);
  }
}

function agrees(row: OrderRow, order: BookedOrder): boolean {
  const scopes = [row.key_scope, row.user_scope, row.address_scope, row.user_address_scope];
  return (
    Number(row.revision) === order.revision &&
    ORDER_STATUSES[row.status] === order.status &&
    row.created_at.getTime() === Date.parse(order.facts.created_at) &&
    orderScopes(order).every((scope, place) => scope === scopes[place]) &&
    row.body === orderResponseOf(order)
  );
}

/** Counts of a scope and a day, and of a key and an hour, say how many of its orders have which status. */
async function compareCounts(
  tables: AuditedTables,
  orders: Iterable<BookedOrder>,
  differences: Differences,
): Promise<void> {
  const counts = new Map<string, number[]>();
  for (const order of orders) {
    const second = Math.floor(Date.parse(order.facts.created_at) / 1000);
    for (const [n, scope] of orderScopes(order).entries()) {
      if (scope === null) continue;
      // The first scope is the key's.
      for (const hours of n === 0 ? [24, 1] : [24]) {
        const place = `${scope} ${hours} ${second - (second % (hours * HOUR_SECONDS))}`;
        const known = counts.get(place) ?? ORDER_STATUSES.map(() => 0);
        known[ORDER_STATUSES.indexOf(order.status)]! += 1;
        counts.set(place, known);
      }
    }
  }
  const seen = new Set<string>();
  await tables.orderCounts((row) => {
    seen.add(row.place);
    const booked = counts.get(row.place);
    if (!ORDER_STATUSES.every((status, n) => row[status] === (booked?.[n] ?? 0)))
      differences.add(`the orders of ${row.place} are counted otherwise than the events say`);
  });
  for (const place of counts.keys())
    if (!seen.has(place)) differences.add(`the orders of ${place} are not counted`);
}

export function ordersByStatus({ orders }: OrderBooks): Readonly<Record<OrderStatus, number>> {
  const counts = Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0])) as Record<
    OrderStatus,
    number
  >;
  for (const { status } of orders.values()) counts[status] += 1;
  return counts;
}
