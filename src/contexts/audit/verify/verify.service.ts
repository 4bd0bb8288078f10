import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { type Context, knownEvents } from '../../../platform/context.js';
import type { TableComparison } from '../../../platform/projections/compare-tables.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import { PAYOUT_VIEWS, readBalances } from '../../payouts/payouts.contract.js';
import type { ExportedEvent } from '../ledger/event-leaf.js';
import { Violations } from './findings.js';
import { type Extent, WHOLE, Histories, Streams } from './streams.js';
import type { LiveTables, TableSnapshot } from './audited-tables.store.js';
import type { ExportedLog } from '../export/exported-log.store.js';
import { type LedgerInputs, LedgerCheck } from './check-ledger.service.js';
import type { LogRule } from '../../../kernel/history-rules.js';
import { FindingList } from '../../../kernel/finding-list.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { BalanceReplay, EvidenceCheck } from './balance-replay.js';

/** The log that is audited, up to the event that was the last when the audit began. */
interface LogSource {
  readonly end: string | null;
  readonly extent: Extent;
  /** The faults of an export, complete after the last page. */
  readonly faults?: FindingList<string>;
  pages(): AsyncGenerator<readonly RecordedEvent[], void, undefined>;
}

export async function storeSource(store: EventStore): Promise<LogSource> {
  const end = await store.head();
  return { end, extent: WHOLE, pages: () => logPages(store, { end }) };
}

/** The log source of an export. A file of lines without a manifest can be any part of a log. */
export function exportSource(exported: ExportedLog): LogSource {
  const { manifest } = exported;
  return {
    faults: exported.faults,
    end: manifest === null ? ANYWHERE : manifest.log_end,
    extent: {
      wholeStreams: manifest !== null && manifest.scope.from === null,
      allClaims: manifest !== null && manifest.scope.merchant === null,
    },
    // ExportedLog omits lines that are not recorded events.
    pages: () => exported.pages() as AsyncGenerator<readonly (ExportedEvent & RecordedEvent)[]>,
  };
}

/** A position after all others. */
const ANYWHERE = '9'.repeat(40);

export interface VerifyOptions {
  readonly contexts: readonly Context[];
  /** The address of USDC; null accepts evidence of any token. */
  readonly token: string | null;
  /** The ledger to compare with, or the reason why there is none. Null only omits the comparison. */
  readonly ledger: LedgerInputs | string | null;
  readonly progress: (read: number, position: string) => void;
  /** The checks that the caller could not prepare, each with the reason. */
  readonly unchecked?: readonly string[];
  /** True when the auditor's key or the master key proves the keys of the ledger. */
  readonly pinned: boolean;
  readonly hasMasterKey: boolean;
}

/** Replays the log once and compares `tables` with it. A string in `tables` says why none are compared. */
export async function verify(
  source: LogSource,
  tables: LiveTables | string | null,
  { contexts, token, ledger: against, progress, unchecked = [], pinned, hasMasterKey }: VerifyOptions,
) {
  const ledger = against === null || typeof against === 'string' ? null : await LedgerCheck.begin(against);
  const live = typeof tables === 'string' ? null : tables;
  const { extent } = source;
  const booksEnd = live === null ? source.end : await live.tables.readCheckpoint(PAYOUT_VIEWS);
  const allowed = live === null ? new Set<string>() : await live.tables.passingTypes();
  const audit = new LogAudit({ contexts, booksEnd, extent, token, allowed });
  const failures: string[] = [];
  let checks = live?.checks ?? [];
  // A read model that cannot be rebuilt is reported and skipped.
  const attempt = async <T>(check: TableCheck, act: () => Promise<T>): Promise<T | null> =>
    act().catch((error: Error) => {
      failures.push(`the read model ${check.name}: it cannot be rebuilt from the events (${error.message})`);
      checks = checks.filter((each) => each !== check);
      return null;
    });
  let last: string | null = null;
  for await (const page of source.pages()) {
    for (const event of page) audit.add(event);
    for (const check of checks) await attempt(check, () => check.add(page));
    await ledger?.add(page);
    last = page.at(-1)!.position;
    progress(audit.streams.events, last);
  }
  const differences = new FindingList<string>();
  const compared: Omit<TableComparison, 'first'>[] = [];
  if (live !== null) await compareBalances(live.tables, audit.books, differences);
  for (const check of checks)
    for (const { first, ...table } of (await attempt(check, () => check.compare())) ?? []) {
      compared.push(table);
      differences.addAll(first, table.different);
    }
  const unknown = [...audit.unknown.values()];
  const waitsFor = unknown.filter(({ type }) => !allowed.has(type));
  // The rebuild lacks the rows of a newer version's events: a difference may be correct.
  const unexplained = waitsFor.length > 0 ? new FindingList<string>() : differences;
  const { violations, streams, histories, evidence } = audit;
  const ledgerReport = (await ledger?.end()) ?? null;
  const isEmpty = ledgerReport?.events === 0;
  return {
    read_to: last,
    read: streams.events,
    /** The end of the balance replay: the checkpoint of the payout views, or the end of the log. */
    position: booksEnd,
    streams: streams.count,
    /** The number of events that were verified by the decisions of their aggregates. */
    evaluated: histories.evaluated,
    books: extent.wholeStreams ? audit.books.report() : null,
    evidence: { checked: evidence.checked },
    violations: violations.listed,
    violation_count: violations.count,
    ledger: ledgerReport,
    read_models: live && { tables: compared },
    differences: unexplained.listed,
    difference_count: unexplained.count,
    faults: source.faults?.listed ?? [],
    fault_count: source.faults?.count ?? 0,
    keys_pinned: pinned,
    let_pass: unknown.filter(({ type }) => allowed.has(type)),
    not_checked: [
      ...unchecked,
      ...failures,
      ...waitsFor.map(unknownTo),
      ...(differences === unexplained || differences.count === 0 ? [] : [rowsOfNewer(differences)]),
      ...(extent.wholeStreams ? [] : [ACROSS_STREAMS]),
      ...(typeof against === 'string' ? [against] : []),
      ...(typeof tables === 'string' ? [`the read models of the database: ${tables}`] : []),
      ...(isEmpty || ledgerReport?.proven ? [] : [UNCOVERED]),
      ...(isEmpty || pinned ? [] : [UNPINNED]),
      ...(live === null || hasMasterKey ? [] : [UNOPENED]),
    ],
  };
}

export type AuditReport = Awaited<ReturnType<typeof verify>>;

const ACROSS_STREAMS =
  'rules across streams (balances, transfers, evidence, claims): they need the whole log';
const UNPINNED =
  'the keys of the ledger are not pinned: nothing proves whose they are. Give --key with the first key that was published or, where a database is read, the MASTER_KEY';
const UNOPENED =
  'whether each personal key is the one of its person, and whether the service created each delivery: that takes the MASTER_KEY';
const UNCOVERED = 'no signed head covers any event: nothing proves that the log is the recorded one';

export function isWrong({ violation_count, difference_count, fault_count, ledger }: AuditReport): boolean {
  return violation_count + difference_count + fault_count + (ledger?.findings.length ?? 0) > 0;
}

function unknownTo({ type, count, position }: UnknownType): string {
  return `${type}: unknown to this version (${count} events from ${position} on)`;
}

function rowsOfNewer({ count, listed }: FindingList<string>): string {
  return `read models: ${count} differences, which events of these types may explain (the first: ${listed[0]})`;
}

async function compareBalances(
  tables: TableSnapshot,
  { balances }: LogAudit['books'],
  differences: FindingList<string>,
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

/** The errors of code that reads an event with missing or wrong members. */
const UNREADABLE = [TypeError, SyntaxError, RangeError];

interface UnknownType {
  readonly type: string;
  count: number;
  readonly position: string;
}

interface Rules {
  readonly contexts: readonly Context[];
  /** The end of the balance replay: the checkpoint of the payout views, or the end of the log. */
  readonly booksEnd: string | null;
  readonly extent: Extent;
  /** The unknown event types that an operator allowed. Subscriptions and the audit ignore these events. */
  readonly allowed: ReadonlySet<string>;
  readonly token: string | null;
}

/** The checks of a log that need only its events, in one pass. */
export class LogAudit {
  readonly violations = new Violations();
  readonly streams: Streams;
  readonly histories: Histories;
  readonly evidence: EvidenceCheck;
  readonly books: BalanceReplay;
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
    // Only a newer version can evaluate the events after an event of an unknown type.
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

  private checked(event: RecordedEvent, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!UNREADABLE.some((kind) => error instanceof kind)) throw error;
      const rule = `${event.stream}, ${event.type}: its data must be valid for its type (${(error as Error).message})`;
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
