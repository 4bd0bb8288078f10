import { comparePositions, type EventStore } from '../../../platform/event-store/port.js';
import type { OrderStatus } from '../../exchange/contract.js';
import { responseOf, type Books, type BookedPayout, type Violation } from '../domain/books.js';
import type { AuditedTables, PayoutRow } from '../store/audited-tables.js';
import { Differences } from './differences.js';
import { replay, type Replay, type UnknownType } from './replay.js';
import { compareOrders, ORDER_VIEWS, ordersByStatus } from './verify-orders.js';

/** The checkpoint that the read models of payouts stand at. */
const PAYOUT_VIEWS = 'payouts.views';
/** The checkpoint of the list of payouts that are looked up on the chain. */
const PAYOUT_VERIFICATION = 'payouts.verification';
/** What an audit found. Nothing is wrong when `violations` and `differences` are empty. */
export interface AuditReport {
  /** The position the books were replayed to: that of the read models. */
  readonly position: string | null;
  readonly events: number;
  readonly payouts: { readonly pending: number; readonly received: number; readonly expired: number };
  readonly users: number;
  /** Sums over all users, in minor units, as decimal strings. */
  readonly confirmed_minor: string;
  readonly pending_minor: string;
  /** The position the exchange orders were replayed to, and how many there are of each status. */
  readonly orders_position: string | null;
  readonly orders: Readonly<Record<OrderStatus, number>>;
  /** Broken rules of the stream itself. */
  readonly violations: readonly Violation[];
  /** Rows of the read models that say something else than the replay; the first of them. */
  readonly differences: readonly string[];
  readonly difference_count: number;
  /** Types that this version does not know and that an operator let pass. */
  readonly let_pass: readonly UnknownType[];
}

/**
 * Replays the stream up to where the read models stand, and compares every row with the books. The service may run:
 * rows and their position are read from one snapshot of the database.
 */
export async function verifyBooks(
  tables: AuditedTables,
  store: EventStore,
  known: ReadonlySet<string>,
): Promise<AuditReport> {
  const position = await tables.checkpointOf(PAYOUT_VIEWS);
  const ordersPosition = await tables.checkpointOf(ORDER_VIEWS);
  const replayed = await replay(store, { payouts: position, orders: ordersPosition }, known);
  const { books, orders } = replayed;
  const differences = new Differences();
  await comparePayouts(tables, books, differences);
  await compareBalances(tables, books, differences);
  await compareWork(tables, replayed, differences);
  await compareOrders(tables, orders, differences);
  const allowed = await tables.passingTypes();
  return {
    ...report(books, position, differences),
    orders_position: ordersPosition,
    orders: ordersByStatus(orders),
    violations: [
      ...books.violations,
      ...orders.violations,
      ...replayed.unknown.filter(({ type }) => !allowed.has(type)).map(unknownTo),
    ],
    let_pass: replayed.unknown.filter(({ type }) => allowed.has(type)),
  };
}

function unknownTo({ type, count, position }: UnknownType): Violation {
  return { position, rule: `every type is known, and this version does not know ${type} (${count} events)` };
}

const STATUS = ['pending', 'received', 'expired'] as const;

async function comparePayouts(tables: AuditedTables, books: Books, differences: Differences): Promise<void> {
  const seen = await tables.payouts((row) => {
    const payout = books.payouts.get(row.id);
    if (payout === undefined) differences.add(`payout ${row.id} has a row and no event`);
    else if (!agrees(row, payout)) differences.add(`payout ${row.id} has a row that differs from its events`);
  });
  for (const id of books.payouts.keys())
    if (!seen.has(id)) differences.add(`payout ${id} has events and no row`);
}

/** The row, and the response the API gives from it. */
function agrees(row: PayoutRow, payout: BookedPayout): boolean {
  return (
    row.merchant_id === payout.merchantId &&
    row.user_id === payout.userId &&
    STATUS[row.status] === payout.status &&
    BigInt(row.amount_minor) === payout.amountMinor &&
    row.created_at.toISOString() === payout.createdAt &&
    row.body === responseOf(payout)
  );
}

async function compareBalances(tables: AuditedTables, books: Books, differences: Differences): Promise<void> {
  const seen = await tables.balances((row) => {
    const balance = books.balances.get(row.user_id);
    const same =
      balance !== undefined &&
      balance.merchantId === row.merchant_id &&
      balance.confirmed === BigInt(row.confirmed) &&
      balance.pending === BigInt(row.pending);
    if (!same) differences.add(`user ${row.user_id} has a balance that differs from the events`);
  });
  for (const id of books.balances.keys()) if (!seen.has(id)) differences.add(`user ${id} has no balance`);
}

/** Every pending payout is on the list of those that are looked up: else it would be pending for ever. */
async function compareWork(
  tables: AuditedTables,
  { books, endedLater }: Replay,
  differences: Differences,
): Promise<void> {
  const listedUpTo = await tables.checkpointOf(PAYOUT_VERIFICATION);
  const listed = await tables.verifications();
  for (const { id, status, reportedAt } of books.payouts.values()) {
    const due = status === 'pending' && comparePositions(reportedAt, listedUpTo) <= 0;
    if (due && !listed.has(id) && !endedLater.has(id))
      differences.add(`payout ${id} is pending, and nobody looks for its transfer`);
  }
}

function report(
  books: Books,
  position: string | null,
  differences: Differences,
): Omit<AuditReport, 'violations' | 'let_pass' | 'orders' | 'orders_position'> {
  const payouts = { pending: 0, received: 0, expired: 0 };
  for (const { status } of books.payouts.values()) payouts[status] += 1;
  let confirmed = 0n;
  let pending = 0n;
  for (const balance of books.balances.values()) {
    confirmed += balance.confirmed;
    pending += balance.pending;
  }
  return {
    position,
    events: books.events,
    payouts,
    users: books.balances.size,
    confirmed_minor: confirmed.toString(),
    pending_minor: pending.toString(),
    differences: differences.listed,
    difference_count: differences.count,
  };
}
