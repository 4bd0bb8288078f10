import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { Books } from '../domain/books.js';
import { OrderBooks } from '../domain/order-books.js';

const EVENTS_PER_PAGE = 5000;
/** As they are stored: the audit reads what stands there, not what later versions make of it. */
const OUTCOMES: ReadonlySet<string> = new Set([
  'payout.received.v1',
  'payout.received.v2',
  'payout.expired.v1',
]);

/** Events of a type that this version does not know. */
export interface UnknownType {
  readonly type: string;
  count: number;
  /** Of the first one. */
  readonly position: string;
}

/** The whole log as it was when the audit began. */
export interface Replay {
  /** Each up to the position that was asked for. */
  readonly books: Books;
  readonly orders: OrderBooks;
  /** Payouts that ended after that. */
  readonly endedLater: ReadonlySet<string>;
  /** Anywhere in the log: subscriptions wait at these, or were told to pass them. */
  readonly unknown: readonly UnknownType[];
}

/** Where read models stand. */
export interface Positions {
  readonly payouts: string | null;
  readonly orders: string | null;
}

/** Keeps the books up to `to`, and looks through what comes after. `known`: types that this version knows. */
export async function replay(store: EventStore, to: Positions, known: ReadonlySet<string>): Promise<Replay> {
  const books = new Books();
  const orders = new OrderBooks();
  const endedLater = new Set<string>();
  const unknown = new Map<string, UnknownType>();
  const look = (event: RecordedEvent): void => {
    const { type, position, data } = event;
    if (!known.has(type)) {
      const seen = unknown.get(type);
      if (seen === undefined) unknown.set(type, { type, count: 1, position });
      else seen.count += 1;
    }
    if (comparePositions(position, to.orders) <= 0) orders.add(event);
    if (comparePositions(position, to.payouts) <= 0) books.add(event);
    else if (OUTCOMES.has(type)) endedLater.add(String(data['payout_id']));
  };
  const end = await store.head();
  for (let after: string | null = null; comparePositions(after, end) < 0;) {
    const page = await store.readAll(after, EVENTS_PER_PAGE);
    if (page.length === 0) break;
    page.forEach(look);
    after = page.at(-1)!.position;
  }
  return { books, orders, endedLater, unknown: [...unknown.values()] };
}
