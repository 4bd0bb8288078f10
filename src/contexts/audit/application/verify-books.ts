import type { PoolClient } from 'pg';
import { comparePositions, type EventStore } from '../../../platform/event-store/port.js';
import type { Database } from '../../../platform/postgres/database.js';
import { answerOf, type Books, type BookedPayout, type Violation } from '../domain/books.js';
import { replay, type Replay, type UnknownType } from './replay.js';

/** The checkpoint that the read models of payouts stand at. */
const PAYOUT_VIEWS = 'payouts.views';
/** The checkpoint of the list of payouts that are looked up on the chain. */
const PAYOUT_VERIFICATION = 'payouts.verification';
const ROWS_PER_PAGE = 10_000;
/** Differences listed; all are counted. */
const LISTED = 50;

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
  /** Broken rules of the stream itself. */
  readonly violations: readonly Violation[];
  /** Rows of the read models that say something else than the replay; the first {@link LISTED}. */
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
  database: Database,
  store: EventStore,
  known: ReadonlySet<string>,
): Promise<AuditReport> {
  return database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    // Before the snapshot: in tables that a rebuild put in place after it, it would find no rows.
    await tx.query('lock table payouts.payouts, payouts.balances in access share mode');
    const position = await checkpointOf(PAYOUT_VIEWS, tx);
    const replayed = await replay(store, position, known);
    const { books } = replayed;
    const differences = new Differences();
    await comparePayouts(tx, books, differences);
    await compareBalances(tx, books, differences);
    await compareWork(tx, replayed, differences);
    const passing = await tx.query<{ type: string }>('select type from event_store.passing_types');
    const allowed = new Set(passing.rows.map(({ type }) => type));
    return {
      ...report(books, position, differences),
      violations: [
        ...books.violations,
        ...replayed.unknown.filter(({ type }) => !allowed.has(type)).map(unknownTo),
      ],
      let_pass: replayed.unknown.filter(({ type }) => allowed.has(type)),
    };
  });
}

async function checkpointOf(name: string, tx: PoolClient): Promise<string | null> {
  const { rows } = await tx.query<{ position: string | null }>(
    'select position from event_store.checkpoints where name = $1',
    [name],
  );
  return rows[0]?.position ?? null;
}

function unknownTo({ type, count, position }: UnknownType): Violation {
  return { position, rule: `every type is known, and this version does not know ${type} (${count} events)` };
}

class Differences {
  readonly listed: string[] = [];
  count = 0;

  add(what: string): void {
    this.count += 1;
    if (this.listed.length < LISTED) this.listed.push(what);
  }
}

interface PayoutRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly user_id: string;
  readonly status: number;
  readonly created_at: Date;
  readonly amount_minor: string;
  readonly body: string;
}

const STATUS = ['pending', 'received', 'expired'] as const;

async function comparePayouts(tx: PoolClient, books: Books, differences: Differences): Promise<void> {
  const seen = await pages<PayoutRow>(
    tx,
    `select id, merchant_id, user_id, status, created_at, amount_minor, body from payouts.payouts where id > $1 order by id limit $2`,
    ({ id }) => id,
    (row) => {
      const payout = books.payouts.get(row.id);
      if (payout === undefined) differences.add(`payout ${row.id} has a row and no event`);
      else if (!agrees(row, payout))
        differences.add(`payout ${row.id} has a row that differs from its events`);
    },
  );
  for (const id of books.payouts.keys())
    if (!seen.has(id)) differences.add(`payout ${id} has events and no row`);
}

/** The row, and the answer the API gives from it. */
function agrees(row: PayoutRow, payout: BookedPayout): boolean {
  return (
    row.merchant_id === payout.merchantId &&
    row.user_id === payout.userId &&
    STATUS[row.status] === payout.status &&
    BigInt(row.amount_minor) === payout.amountMinor &&
    row.created_at.toISOString() === payout.createdAt &&
    row.body === answerOf(payout)
  );
}

interface BalanceRow {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly confirmed: string;
  readonly pending: string;
}

async function compareBalances(tx: PoolClient, books: Books, differences: Differences): Promise<void> {
  const seen = await pages<BalanceRow>(
    tx,
    `select user_id, merchant_id, confirmed, pending from payouts.balances where user_id > $1 order by user_id limit $2`,
    ({ user_id: id }) => id,
    (row) => {
      const balance = books.balances.get(row.user_id);
      const same =
        balance !== undefined &&
        balance.merchantId === row.merchant_id &&
        balance.confirmed === BigInt(row.confirmed) &&
        balance.pending === BigInt(row.pending);
      if (!same) differences.add(`user ${row.user_id} has a balance that differs from the events`);
    },
  );
  for (const id of books.balances.keys()) if (!seen.has(id)) differences.add(`user ${id} has no balance`);
}

/** Every pending payout is on the list of those that are looked up: else it would be pending for ever. */
async function compareWork(
  tx: PoolClient,
  { books, endedLater }: Replay,
  differences: Differences,
): Promise<void> {
  const listedUpTo = await checkpointOf(PAYOUT_VERIFICATION, tx);
  const listed = await pages<{ payout_id: string }>(
    tx,
    'select payout_id from payouts.verifications where payout_id > $1 order by payout_id limit $2',
    ({ payout_id: id }) => id,
    () => undefined,
  );
  for (const { id, status, reportedAt } of books.payouts.values()) {
    const due = status === 'pending' && comparePositions(reportedAt, listedUpTo) <= 0;
    if (due && !listed.has(id) && !endedLater.has(id))
      differences.add(`payout ${id} is pending, and nobody looks for its transfer`);
  }
}

/** Reads a whole table by its key, page by page; returns the keys. */
async function pages<Row extends object>(
  tx: PoolClient,
  sql: string,
  keyOf: (row: Row) => string,
  look: (row: Row) => void,
): Promise<Set<string>> {
  const seen = new Set<string>();
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await tx.query<Row>(sql, [after, ROWS_PER_PAGE]);
    for (const row of rows) {
      seen.add(keyOf(row));
      look(row);
    }
    if (rows.length < ROWS_PER_PAGE) return seen;
    after = keyOf(rows.at(-1)!);
  }
}

function report(
  books: Books,
  position: string | null,
  differences: Differences,
): Omit<AuditReport, 'violations' | 'let_pass'> {
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
