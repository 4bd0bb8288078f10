import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { EventsMissing } from '../../../platform/event-store/followed-log.js';
import { comparePositions } from '../../../platform/event-store/port.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import {
  collectEarly,
  counted,
  createProgress,
  EXIT_INCOMPLETE,
  EXIT_WRONG,
  inOneLine,
  printResult,
} from '../../../platform/cli/output.js';
import { KeyRing, toMasterKeys } from '../../../platform/sealing/key-ring.js';
import {
  type AuditReport,
  exportSource,
  isWrong,
  storeSource,
  type VerifyOptions,
  verify,
} from './verify.service.js';
import type { LedgerReport } from './check-ledger.service.js';
import {
  type AuditorInputs,
  currentLedger,
  exportedLedger,
  exportedSealer,
} from './checked-ledger.service.js';
import { describeFindings, isOfEvents } from './findings.js';
import { isWhole } from '../export/manifest.js';
import { LastVerifies, type LastVerify } from './last-verify.store.js';
import { ExportedLog } from '../export/exported-log.store.js';
import { liveTables } from './audited-tables.store.js';
import { readHeads, readPublicKey, storedLedger } from '../ledger/ledger.program.js';

/** The number of database connections, which read the log and the tables and rebuild read models. */
const CONNECTIONS = 16;

export function verifyProgram(program: Command, cli: CliContext): void {
  program
    .command('verify')
    .description(
      'replay every event: each history against its own rules, every row of the read models against the events, each event against the ledger and its signed heads; exit 2 when anything is wrong, 1 when not all could be checked',
    )
    .option('--from <path>', 'the folder of an export, or a file of its lines, in place of the event store')
    .option('--offline', 'nothing but the files of --from: no database, no settings')
    .option(
      '--head <file>',
      'heads that were kept elsewhere, one in a line of JSON; may be given again',
      (file, former) => [...former, file],
      [] as readonly string[],
    )
    .option(
      '--key <file>',
      'the first public key of the ledger, as it was published (PEM): of the keys before it nothing counts',
    )
    .action(async ({ from, offline = false, head, key }: Options) => {
      collectEarly(offline ? 50 : 30);
      if (offline && from === undefined)
        throw new DomainError('bad_request', '--offline reads an export: name it with --from');
      const heads = (await Promise.all(head.map(readHeads))).flat();
      const inputs = { heads, key: key === undefined ? null : await readPublicKey(key) };
      const exported = from === undefined ? null : await ExportedLog.open(from);
      const rules = { contexts: cli.contexts, progress: createProgress() };
      const isOfService = !offline && exported === null;
      try {
        const report =
          offline && exported !== null
            ? await verifyOffline(cli, exported, inputs, rules)
            : await verifyConnected(cli, exported, inputs, rules);
        printResult(program, cli, report, describe);
        const isIncomplete = report.not_checked.length > 0;
        const outcome = isWrong(report) ? 'wrong' : isIncomplete ? 'incomplete' : 'in_order';
        if (isOfService) await record(cli, outcome, report.read_to);
        if (outcome !== 'in_order') cli.exit(outcome === 'wrong' ? EXIT_WRONG : EXIT_INCOMPLETE);
      } catch (error) {
        // A log that ends before a checkpoint is a finding, not a mistake of the caller.
        if (!(error instanceof EventsMissing)) throw error;
        const { message } = error;
        if (isOfService) await record(cli, 'wrong', null);
        printResult(program, cli, { missing_events: message }, () => `CHANGED   ${message}\nNOT in order`);
        cli.exit(EXIT_WRONG);
      }
    });
}

interface Options {
  readonly from?: string;
  readonly offline?: boolean;
  readonly head: readonly string[];
  readonly key?: string;
}

type Given = Pick<AuditorInputs, 'heads' | 'key'>;

/** Records the outcome for `GET /admin/v1/system`, unless the connection is read-only. */
async function record(cli: CliContext, outcome: LastVerify['outcome'], readTo: string | null): Promise<void> {
  const verified = { at: new Date().toISOString(), outcome, read_to: readTo };
  await connected(cli, (database) => new LastVerifies(database).record(verified), 1).catch(() => undefined);
}

async function verifyOffline(
  cli: CliContext,
  exported: ExportedLog,
  inputs: Given,
  rest: Pick<VerifyOptions, 'contexts' | 'progress'>,
): Promise<AuditReport> {
  const { manifest } = exported;
  const keys = cli.masterKeys();
  const isChecked = keys.masterKey !== null && manifest !== null && isWhole(manifest.scope);
  const opened = isChecked ? exportedSealer(manifest, keys) : null;
  const [sealer, unchecked] =
    typeof opened === 'string' ? [null, [`whether the service wrote each event: ${opened}`]] : [opened, []];
  const ledger = exportedLedger(manifest, { ...inputs, sealer });
  const proof = { pinned: inputs.key !== null, hasMasterKey: false };
  return verify(exportSource(exported), null, { ...rest, ...proof, token: null, ledger, unchecked });
}

async function verifyConnected(
  cli: CliContext,
  exported: ExportedLog | null,
  { heads, key }: Given,
  rest: Pick<VerifyOptions, 'contexts' | 'progress'>,
): Promise<AuditReport> {
  const config = cli.config();
  return connected(
    cli,
    async (database, store) => {
      const logId = await store.identity();
      const why = exported === null ? null : unfit(exported, logId);
      const ring = config.masterKey === null ? null : await KeyRing.open(database, toMasterKeys(config));
      const manifest = exported?.manifest ?? null;
      const isOther = manifest !== null && manifest.log_id !== logId;
      // The key ring of the database proves nothing about another log.
      const sealer = ring === null || isOther ? null : ring.sealer;
      const proofs = { key, sealer, refreshKeys: () => ring!.refresh() };
      const exportedHead = why === null ? (manifest?.signed_head ?? null) : null;
      const tables = storedLedger(database);
      // The ledger is read before the log, so that the log has all its events.
      const stored = await currentLedger(tables, logId, {
        heads: exportedHead === null ? heads : [exportedHead, ...heads],
        ...proofs,
      });
      // A manifest can contain any keys. The master key proves those of the database.
      const known =
        manifest === null || isOther ? manifest : { ...manifest, signing_keys: await tables.keys.all() };
      const read = exported === null ? null : exportSource(exported);
      const isWholeLog = read === null || (why === null && read.end === (await store.head()));
      const ledger = isWholeLog ? stored : exportedLedger(known, { heads, ...proofs });
      const proof = { pinned: key !== null || sealer !== null, hasMasterKey: ring !== null };
      const rules = { ...rest, ...proof, token: config.usdcAddress, ledger };
      if (read !== null && why !== null) return verify(read, why, rules);
      return liveTables(database, cli, sealer, async (live) => {
        // The end of the log is read after the snapshot, so that it is not before the checkpoints.
        const log = read ?? (await storeSource(store));
        const isBehind = comparePositions(log.end, live.furthest) < 0;
        return verify(log, isBehind ? 'the export ends before their checkpoints' : live, rules);
      });
    },
    CONNECTIONS,
  );
}

function unfit({ manifest }: ExportedLog, logId: string | null): string | null {
  if (manifest === null || !isWhole(manifest.scope)) return 'the export is a part of the log';
  return manifest.log_id === logId ? null : `the export is of another log (${manifest.log_id})`;
}

function describe(report: AuditReport): string {
  const { books, evidence, read_models: readModels } = report;
  const lines = [
    `${counted(report.read, 'event')} replayed, up to position ${report.read_to ?? 'none'}`,
    `histories ${counted(report.streams, 'stream')}, ${report.evaluated} events verified by their decisions`,
  ];
  if (books !== null) {
    const { payouts } = books;
    // The read models lag behind the log under load, and the books end at their checkpoint.
    const upTo = report.position === report.read_to ? '' : `, up to position ${report.position}`;
    lines.push(
      `payouts   ${payouts.pending} pending, ${payouts.received} received, ${payouts.expired} expired${upTo}`,
      `balances  ${counted(books.users, 'user')}: ${fromMinorUnits(BigInt(books.confirmed_minor))} USDC confirmed, ${fromMinorUnits(BigInt(books.pending_minor))} pending`,
      `evidence  ${counted(evidence.checked, 'payout')} received with it`,
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
    ...(report.ledger !== null && report.ledger.more > 0 ? [`CHANGED   and ${report.ledger.more} more`] : []),
    ...described(report),
    ...report.not_checked.map((what) => `UNCHECKED ${what}`),
    verdict(report),
  );
  // Each line is escaped, so that the content of a row cannot imitate a line.
  return lines.map(inOneLine).join('\n');
}

/** Lists broken rules and differences. If changed events may be the cause, lists only the first of each. */
function described({ violations, differences, ...report }: AuditReport): readonly string[] {
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
  return `${counted(events, 'event')} compared with it and ${counted(heads, 'signed head')}: ${until}, ${unsigned} under none`;
}

function verdict(report: AuditReport): string {
  if (isWrong(report)) {
    const faults = report.fault_count > 0 ? `${report.fault_count} faults of the export, ` : '';
    const changed = report.ledger?.findings.length ?? 0;
    const changes = changed > 0 ? `${changed} findings of the ledger, ` : '';
    return `NOT in order: ${faults}${changes}${report.violation_count} broken rules, ${report.difference_count} differences`;
  }
  if (report.read_models !== null) return 'in order: the read models equal the replay, and no rule is broken';
  return 'in order: no rule is broken; read models were not compared';
}
