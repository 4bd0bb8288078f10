import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { comparePositions } from '../../../platform/event-store/port.js';
import { connected } from '../../../platform/operator/connected.js';
import type { Operator } from '../../../platform/operator/operator.js';
import { storeSource, type LogSource } from '../application/log-source.js';
import { isWrong, verify, type AuditReport, type Verification } from '../application/verify.js';
import { LedgerCheck, type LedgerReport } from '../application/check-ledger.js';
import { ledgerAtHand, type Brought, type LedgerAtHand } from '../application/checked-ledger.js';
import { describeFindings, isOfEvents } from '../domain/ledger-findings.js';
import { exportSource } from '../application/export-source.js';
import { exportedLedger } from '../application/exported-ledger.js';
import { isWhole } from '../domain/manifest.js';
import { ExportedLog } from '../store/exported-log.js';
import { inOneLine } from '../../../platform/operator/printable.js';
import { collectEarly } from './collect-early.js';
import { liveTables } from './live-tables.js';
import { publicKeyOf, sealerOf, storedLedger, unproven } from './ledger.js';
import { EXIT_INCOMPLETE, EXIT_WRONG, reportMissingEvents, UNOPENED } from './outcome.js';
import { progressOf } from './progress.js';
import { counted } from './text.js';

/** Of read models that are made once more, and of those who read the log and the tables. */
const CONNECTIONS = 16;

/** `npm run audit -- verify`: replays every event and holds everything against it. Changes nothing. */
export function verifyProgram(program: Command, operator: Operator): void {
  program
    .command('verify')
    .description(
      'replay every event: each history against its own rules, every row of the read models against the events; exit 2 when anything is wrong, 1 when not all could be checked',
    )
    .option('--from <path>', 'the folder of an export, or a file of its lines, in place of the event store')
    .option('--offline', 'nothing but the files of --from: no database, no settings')
    .option(
      '--key <file>',
      'the first public key of the ledger, as it was published (PEM): of the keys before it nothing counts',
    )
    .action(async ({ from, offline, key: file }: Options) => {
      collectEarly(offline ? 50 : 30);
      if (offline && from === undefined)
        throw new DomainError('bad_request', '--offline reads an export: name it with --from');
      const asJson = program.opts<{ json?: boolean }>().json === true;
      await reportMissingEvents(operator, asJson, () => audit(operator, asJson, { from, offline, file }));
    });
}

async function audit(operator: Operator, asJson: boolean, { from, offline, file }: Given): Promise<void> {
  const key = file === undefined ? null : await publicKeyOf(file);
  const exported = from === undefined ? null : await ExportedLog.open(from);
  const contexts = operator.contexts;
  const progress = progressOf();
  const report =
    offline && exported !== null
      ? await verifyOffline(exported, key, { contexts, progress })
      : await verifyConnected(operator, exported, key, { contexts, progress });
  const pinned = key !== null || (!offline && operator.config().masterKey !== null);
  const unopened = report.read_models === null || operator.config().masterKey !== null ? [] : [UNOPENED];
  const faults = exported?.faults;
  const said = {
    ...{ ...report, faults: faults?.listed ?? [], fault_count: faults?.count ?? 0 },
    keys_pinned: pinned,
    not_checked: [...report.not_checked, ...unproven(report.ledger, pinned), ...unopened],
  };
  operator.print(asJson ? JSON.stringify(said, null, 2) : describe(said));
  if (isWrong(report) || said.fault_count > 0) operator.exit(EXIT_WRONG);
  else if (said.not_checked.length > 0) operator.exit(EXIT_INCOMPLETE);
}

interface Options {
  readonly from?: string;
  readonly offline?: true;
  readonly key?: string;
}

type Given = Omit<Options, 'key'> & { readonly file?: string };

interface Said extends AuditReport {
  readonly faults: readonly string[];
  readonly fault_count: number;
  /** Whether something that came apart from the ledger or the export says whose the keys are. */
  readonly keys_pinned: boolean;
}

async function verifyOffline(
  exported: ExportedLog,
  key: Brought['key'],
  rest: Omit<Verification, 'token'>,
): Promise<AuditReport> {
  const against = exportedLedger(exported.manifest, key);
  return held(against, (ledger) => verify(exportSource(exported), null, { ...rest, token: null, ...ledger }));
}

async function verifyConnected(
  operator: Operator,
  exported: ExportedLog | null,
  key: Brought['key'],
  rest: Omit<Verification, 'token'>,
): Promise<AuditReport> {
  const config = operator.config();
  const { usdcAddress: token } = config;
  return connected(
    operator,
    async (database, store) => {
      const logId = await store.identity();
      const why = exported === null ? null : unfit(exported, logId);
      const head = why === null ? exported?.manifest?.signed_head : undefined;
      const sealer = await sealerOf(config, database);
      // Before the log is read: what the ledger tells of is then in it.
      const stored = await ledgerAtHand(storedLedger(database), logId, {
        heads: head ? [head] : [],
        key,
        sealer,
      });
      const source = await storeSource(store);
      const read = exported === null ? source : exportSource(exported);
      const isWholeLog = exported === null || (why === null && read.end === source.end);
      return held(isWholeLog ? stored : exportedLedger(exported.manifest, key), (ledger) => {
        const rules = { ...rest, token, ...ledger };
        if (why !== null) return unasked(read, rules, why);
        return liveTables(database, { ...operator, sealer }, async (live) => {
          // Its end is asked for after the snapshot of the tables: where they stand is then in it.
          const log = exported === null ? await storeSource(store) : read;
          return isBehind(log, live.furthest)
            ? unasked(log, rules, 'the export ends before the place where they stand')
            : verify(log, live, rules);
        });
      });
    },
    CONNECTIONS,
  );
}

/** What `audit` says of a log that is held against a ledger; against none, and why, where there is a reason. */
async function held(
  against: LedgerAtHand | string | null,
  audit: (rules: Pick<Verification, 'ledger'>) => Promise<AuditReport>,
): Promise<AuditReport> {
  if (against === null) return audit({});
  if (typeof against === 'string') {
    const report = await audit({});
    return { ...report, not_checked: [...report.not_checked, against] };
  }
  const report = await audit({ ledger: new LedgerCheck(against.ledger) });
  const { ledger } = report;
  return {
    ...report,
    ledger: ledger && { ...ledger, findings: [...against.trust.findings, ...ledger.findings] },
  };
}

/** Without read models, and `why`. */
async function unasked(source: LogSource, rules: Verification, why: string): Promise<AuditReport> {
  const report = await verify(source, null, rules);
  return { ...report, not_checked: [...report.not_checked, `the read models of the database: ${why}`] };
}

function unfit({ manifest }: ExportedLog, logId: string | null): string | null {
  if (manifest === null || !isWhole(manifest.asked)) return 'the export is a part of the log';
  return manifest.log_id === logId ? null : `the export is of another log (${manifest.log_id})`;
}

function isBehind({ end }: LogSource, furthest: string | null): boolean {
  return comparePositions(end, furthest) < 0;
}

function describe(report: Said): string {
  const { books, evidence, read_models: readModels } = report;
  const lines = [
    `${counted(report.read, 'event')} replayed, up to position ${report.read_to ?? 'none'}`,
    `histories ${counted(report.streams, 'stream')}, ${report.judged} events judged by the decisions behind them`,
  ];
  if (books !== null) {
    const { payouts } = books;
    lines.push(
      `payouts   ${payouts.pending} pending, ${payouts.received} received, ${payouts.expired} expired`,
      `balances  ${counted(books.users, 'user')}: ${usdc(books.confirmed_minor)} USDC confirmed, ${usdc(books.pending_minor)} pending`,
      `evidence  ${counted(evidence.checked, 'payout')} received with it, ${evidence.without} without`,
    );
  }
  for (const { table, rows, different } of readModels?.tables ?? [])
    lines.push(`table     ${table}: ${counted(rows, 'row')}, ${different} different`);
  if (report.ledger !== null) lines.push(`ledger    ${ledgerLine(report.ledger)}`);
  lines.push(
    ...report.faults.map((fault) => `ALTERED   ${fault}`),
    ...report.let_pass.map(
      ({ type, count, position }) =>
        `LET PASS  ${type}, unknown to this version: ${count} events from ${position} on`,
    ),
    ...describeFindings(report.ledger?.findings ?? []),
    ...described(report),
    ...report.not_checked.map((what) => `UNCHECKED ${what}`),
    verdict(report),
  );
  // What stands in a row cannot look like a line of this.
  return lines.map(inOneLine).join('\n');
}

/** Broken rules and differences; where events are not the recorded ones, the first of each, since these may be the cause. */
function described({ violations, differences, ...report }: Said): readonly string[] {
  const broken = violations.map(({ position, rule }) => `BROKEN    at ${position}: ${rule}`);
  const differs = differences.map((difference) => `DIFFERS   ${difference}`);
  if (!(report.ledger?.findings ?? []).some(isOfEvents)) return [...broken, ...differs];
  const first = [...broken.slice(0, 1), ...differs.slice(0, 1)].map((line) => `  FOLLOWS ${line}`);
  const left = report.violation_count + report.difference_count - first.length;
  const rest = `  FOLLOWS ${left} more broken rules and differences, which may have the same cause: --json lists them`;
  return left > 0 ? [...first, rest] : first;
}

function ledgerLine({ events, unsigned, heads, proven }: LedgerReport): string {
  const until = proven === null ? 'no head covers them' : `signed up to the first ${proven.size}`;
  return `${counted(events, 'event')} held against it and ${counted(heads, 'signed head')}: ${until}, ${unsigned} under none`;
}

function verdict(report: Said): string {
  if (isWrong(report) || report.fault_count > 0) {
    const faults = report.fault_count > 0 ? `${report.fault_count} faults of the export, ` : '';
    const changed = report.ledger?.findings.length ?? 0;
    const changes = changed > 0 ? `${changed} findings of the ledger, ` : '';
    return `NOT in order: ${faults}${changes}${report.violation_count} broken rules, ${report.difference_count} differences`;
  }
  if (report.read_models !== null) return 'in order: the read models equal the replay, and no rule is broken';
  return 'in order: no rule is broken; read models were not asked';
}

function usdc(minor: string): string {
  return fromMinorUnits(BigInt(minor));
}
