import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { type Context, knownEvents } from '../../../platform/context.js';
import type { TableComparison } from '../../../platform/projections/compare-tables.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import { PAYOUT_VIEWS, readBalances } from '../../payouts/contract.js';
import type { ExportedEvent } from '../domain/event-leaf.js';
import { Differences, Violations } from '../domain/findings.js';
import { type Extent, WHOLE, Histories, Streams } from '../domain/streams.js';
import type { TableSnapshot } from '../store/audited-tables.js';
import type { ExportedLog } from '../store/exported-log.js';
import { type LedgerInputs, LedgerCheck } from './check-ledger.js';
import type { LogRule } from '../../../kernel/history-rules.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { BalanceReplay, EvidenceCheck } from '../domain/balance-replay.js';

/** A log as an audit reads it, from its first event to the last one that it had when the audit began. */
interface LogSource {
  /** The log's id, or null where it is unknown. */
  readonly logId: string | null;
  /** Position of the last event; null: there is none. */
  readonly end: string | null;
  readonly extent: Extent;
  pages(): AsyncGenerator<readonly RecordedEvent[], void, undefined>;
}

export async function storeSource(store: EventStore): Promise<LogSource> {
  const [logId, end] = [await store.identity(), await store.head()];
  return { logId, end, extent: WHOLE, pages: () => logPages(store, { end }) };
}

/** An export in place of an event store. A file of lines without a manifest may be any part of a log. */
export function exportSource(exported: ExportedLog): LogSource {
  const { manifest } = exported;
  return {
    logId: manifest?.log_id ?? null,
    end: manifest === null ? ANYWHERE : manifest.log_end,
    extent: {
      wholeStreams: manifest !== null && manifest.scope.from === null,
      allClaims: manifest !== null && manifest.scope.merchant === null,
    },
    // Lines that are no events of the store were refused before.
    pages: () => exported.pages() as AsyncGenerator<readonly (ExportedEvent & RecordedEvent)[]>,
  };
}

/** A position after every other one. */
const ANYWHERE = '9'.repeat(40);

/** The live read models, in one snapshot of the database. */
export interface LiveTables {
  readonly tables: TableSnapshot;
  /** The checks of rebuilt tables, each up to its checkpoint. */
  readonly checks: readonly TableCheck[];
}

/** Rules of an audit. */
export interface VerifyOptions {
  readonly contexts: readonly Context[];
  /** The address of USDC, where it is configured. */
  readonly token: string | null;
  /** The ledger of a whole log; or why there is none to compare it with. */
  readonly ledger: LedgerInputs | string | null;
  readonly progress: (read: number, position: string) => void;
  /** The parts that the caller could not prepare, each with its reason. */
  readonly unchecked?: readonly string[];
}

/**
 * Replays the log once: verifies histories by their rules, balances by money books, evidence by payouts, and every read
 * model by a rebuild up to its checkpoint. `tables`: the read models, or the reason why none is compared.
 */
export async function verify(
  source: LogSource,
  tables: LiveTables | string | null,
  { contexts, token, ledger: against, progress, unchecked = [] }: VerifyOptions,
) {
  const ledger = against === null || typeof against === 'string' ? null : await LedgerCheck.begin(against);
  const live = typeof tables === 'string' ? null : tables;
  const { extent } = source;
  const booksEnd = live === null ? source.end : await live.tables.readCheckpoint(PAYOUT_VIEWS);
  const allowed = live === null ? new Set<string>() : await live.tables.passingTypes();
  const audit = new LogAudit({ contexts, booksEnd, extent, token, allowed });
  const failures: string[] = [];
  let checks = live?.checks ?? [];
  // A read model that cannot be rebuilt is left out and reported.
  const attempt = async <T>(check: TableCheck, act: () => Promise<T>): Promise<T | null> => {
    try {
      return await act();
    } catch (error) {
      failures.push(
        `the read model ${check.name}: it cannot be rebuilt from the events (${(error as Error).message})`,
      );
      checks = checks.filter((each) => each !== check);
      return null;
    }
  };
  let events = 0;
  let last: string | null = null;
  for await (const page of source.pages()) {
    for (const event of page) {
      audit.add(event);
      if (comparePositions(event.position, booksEnd) <= 0) events += 1;
    }
    for (const check of checks) await attempt(check, () => check.add(page));
    await ledger?.add(page);
    last = page.at(-1)!.position;
    progress(audit.streams.events, last);
  }
  const differences = new Differences();
  const compared: (Omit<TableComparison, 'first'> & { readonly table: string })[] = [];
  if (live !== null) await compareBalances(live.tables, audit.books, differences);
  for (const check of checks)
    for (const [table, { rows, different, first }] of (await attempt(check, () => check.compare())) ?? []) {
      compared.push({ table, rows, different });
      differences.addAll(first, different);
    }
  const unknown = [...audit.unknown.values()];
  const waitsFor = unknown.filter(({ type }) => !allowed.has(type));
  // Rows of a newer version's events are none of the rebuild: what differs may be right.
  const unexplained = waitsFor.length > 0 ? new Differences() : differences;
  const { violations, streams, histories, evidence } = audit;
  return {
    log_id: source.logId,
    read_to: last,
    read: streams.events,
    /** The books were kept up to this position: that of their read models, or the end of the log. */
    position: booksEnd,
    events,
    streams: streams.count,
    /** Events that were verified by the decisions of their aggregates. */
    evaluated: histories.evaluated,
    books: extent.wholeStreams ? audit.books.report() : null,
    evidence: { checked: evidence.checked },
    /** Broken rules of the stream: the first of them, and how many. */
    violations: violations.listed,
    violation_count: violations.count,
    ledger: (await ledger?.end()) ?? null,
    /** The compared tables; null when no read models were compared. */
    read_models: live && { tables: compared },
    differences: unexplained.listed,
    difference_count: unexplained.count,
    let_pass: unknown.filter(({ type }) => allowed.has(type)),
    not_checked: [
      ...unchecked,
      ...failures,
      ...waitsFor.map(unknownTo),
      ...(differences === unexplained || differences.count === 0 ? [] : [rowsOfNewer(differences)]),
      ...(extent.wholeStreams ? [] : [ACROSS_STREAMS]),
      ...(typeof against === 'string' ? [against] : []),
      ...(typeof tables === 'string' ? [`the read models of the database: ${tables}`] : []),
    ],
  };
}

/** The report of an audit. The log is in order without violations, differences and findings of the ledger. */
export type AuditReport = Awaited<ReturnType<typeof verify>>;

const ACROSS_STREAMS =
  'rules across streams (balances, transfers, evidence, claims): they need the whole log';

export function isWrong({ violation_count, difference_count, ledger }: AuditReport): boolean {
  return violation_count + difference_count + (ledger?.findings.length ?? 0) > 0;
}

/** A newer version wrote them, and its audit can verify them. */
function unknownTo({ type, count, position }: UnknownType): string {
  return `${type}: unknown to this version (${count} events from ${position} on)`;
}

function rowsOfNewer({ count, listed }: Differences): string {
  return `read models: ${count} differences, which events of these types may explain (the first: ${listed[0]})`;
}

async function compareBalances(
  tables: TableSnapshot,
  { balances }: LogAudit['books'],
  differences: Differences,
): Promise<void> {
  const seen = new Set<string>();
  await readBalances(tables.query, (row) => {
    seen.add(row.user_id);
    const balance = balances.get(row.user_id);
    const same =
      balance !== undefined &&
      balance.merchantId === row.merchant_id &&
      balance.confirmed === BigInt(row.confirmed) &&
      balance.pending === BigInt(row.pending);
    if (!same) differences.add(`user ${row.user_id} has a balance that differs from the events`);
  });
  for (const id of balances.keys()) if (!seen.has(id)) differences.add(`user ${id} has no balance`);
}

/** Thrown by code that reads an event with missing or wrong members. */
const UNREADABLE = [TypeError, SyntaxError, RangeError];

/** Events of a type that this version does not know. */
interface UnknownType {
  readonly type: string;
  count: number;
  /** The position of the first one. */
  readonly position: string;
}

interface Rules {
  readonly contexts: readonly Context[];
  /** The checkpoint of the read models that the books are compared with; the end of the log without them. */
  readonly booksEnd: string | null;
  readonly extent: Extent;
  /** Unknown types that an operator let pass: subscriptions ignore them, and so does the audit. */
  readonly allowed: ReadonlySet<string>;
  /** The address of USDC, where it is configured. */
  readonly token: string | null;
}

/** Everything that a log proves from its events alone, in one pass over it. */
export class LogAudit {
  readonly violations = new Violations();
  readonly streams: Streams;
  readonly histories: Histories;
  readonly evidence: EvidenceCheck;
  readonly books: BalanceReplay;
  /** Anywhere in the log: subscriptions wait at these, or may pass them. */
  readonly unknown = new Map<string, UnknownType>();
  private readonly unknownStreams = new Set<number>();
  private readonly codec = new EventCodec();
  private readonly logRules: readonly LogRule[];

  constructor(private readonly rules: Rules) {
    const { contexts, extent, token } = rules;
    this.codec.register(knownEvents(contexts));
    this.streams = new Streams(this.violations, extent);
    this.histories = new Histories(
      contexts.flatMap(({ histories = [] }) => histories),
      this.violations,
    );
    this.logRules = contexts.flatMap(({ logRules = [] }) => logRules.map((begin) => begin()));
    this.evidence = new EvidenceCheck(this.violations, token);
    this.books = new BalanceReplay(this.violations);
  }

  add(event: RecordedEvent): void {
    const { type, position } = event;
    const { booksEnd, extent } = this.rules;
    let stream = -1;
    this.checked(event, () => (stream = this.streams.add(event)));
    if (stream < 0) return;
    if (!this.codec.knows(type)) this.noteUnknown(event, stream);
    // The events after an unknown one can only be evaluated by a newer version.
    if (this.unknownStreams.has(stream)) return;
    if (this.streams.isWhole(stream))
      this.checked(event, () => this.histories.add(this.codec.upcast(event), stream));
    // Rules across streams need a whole log.
    if (!extent.wholeStreams) return;
    this.checked(event, () => this.evidence.add(event));
    if (comparePositions(position, booksEnd) <= 0) this.checked(event, () => this.books.add(event));
    for (const isBroken of this.logRules)
      this.checked(event, () => {
        const rule = isBroken(this.codec.upcast(event));
        if (rule !== null) this.violations.add({ position, rule });
      });
  }

  /** Reports an unreadable event and continues. */
  private checked(event: RecordedEvent, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!UNREADABLE.some((kind) => error instanceof kind)) throw error;
      const rule = `${event.stream}, ${event.type}: it says what such an event says (${(error as Error).message})`;
      this.violations.add({ position: event.position, rule });
    }
  }

  private noteUnknown({ type, position }: RecordedEvent, stream: number): void {
    if (!this.rules.allowed.has(type)) this.unknownStreams.add(stream);
    const seen = this.unknown.get(type);
    if (seen === undefined) this.unknown.set(type, { type, count: 1, position });
    else seen.count += 1;
  }
}
