import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import {
  collectEarly,
  columns,
  counted,
  createProgress,
  printResult,
  printTable,
} from '../../../platform/cli/output.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { requireId, explain, type Walk } from './explain.service.js';
import { isUpTo, type Exported, exportedLines, exportTo } from '../export/export.service.js';
import { BalanceReplay } from './balance-replay.js';
import { Violations } from './findings.js';
import {
  POINT_FORMS,
  readPoint,
  type ExportScope,
  isWhole,
  type LogPoint,
  type Signed,
} from '../export/manifest.js';
import { storedLedger, ledgerProgram } from '../ledger/ledger.program.js';
import { verifyProgram } from './verify.program.js';
import { resolve } from 'node:path';
import { isUuid } from '../../../kernel/ids.js';
import { wrappedKeys } from '../../../platform/sealing/key-ring.js';
import { readCopies } from '../../../platform/sealing/key-ring-store.js';
import { readKey } from '../ledger/signed-head.js';
import { ExportFolder, printLines } from '../export/export-folder.store.js';
import { Heads, SigningKeys } from '../ledger/heads.store.js';

function balanceProgram(program: Command, cli: CliContext): void {
  program
    .command('balance')
    .description('what a user had by the money books: up to a position, before a time, or now')
    .requiredOption('--user <id>', 'the user')
    .option('--at <point>', POINT_FORMS)
    .action(async ({ user, at }: { readonly user: string; readonly at?: string }) => {
      const id = requireId('user', user);
      const point = readOptionPoint('--at', at);
      const books = new BalanceReplay(new Violations());
      const progress = createProgress();
      const end = point?.kind === 'position' ? { end: point.position } : {};
      let [read, position] = [0, '-1'];
      await connected(cli, async (_, store) => {
        for await (const page of logPages(store, end)) {
          for (const event of page) if (point === null || isUpTo(point, event)) books.add(event);
          read += page.length;
          position = page.at(-1)!.position;
          progress(read, position);
        }
      });
      const balance = books.balances.get(id);
      if (balance === undefined)
        throw new DomainError('not_found', `The log contains no user ${id} at this point.`);
      const { confirmed, pending, merchantId: merchant_id } = balance;
      const figures = { confirmed, pending, committed: confirmed + pending };
      const usdc = Object.entries(figures).map(([name, minor]) => [name, fromMinorUnits(minor)] as const);
      const result = { user_id: id, merchant_id, at: at ?? null, position, ...Object.fromEntries(usdc) };
      printResult(program, cli, result, () =>
        [...columns(usdc), `the books at ${at ?? 'the end'}, read up to position ${position}`].join('\n'),
      );
    });
}

function explainProgram(program: Command, cli: CliContext): void {
  program
    .command('explain <kind> <id>')
    .description('the events of a payout, order, user, operation or delivery, their causes and deliveries')
    .action(async (kind: string, id: string) => {
      const walk = await connected(cli, async (database, log) =>
        explain(
          { log, query: (sql, values) => database.query(sql, values), ...storedLedger(database) },
          kind,
          id,
        ),
      );
      printResult(program, cli, walk, printWalk);
    });
}

function printWalk({ stream, events, causes, deliveries, changed_rows, missing, head }: Walk): string {
  const positions = new Map(events.map(({ id, position }) => [id, position]));
  const cause = (id = ''): string => positions.get(id) ?? id;
  return [
    stream,
    ...printTable(
      events.map(({ position, recorded_at, stream: of, type, data, metadata, leaf }) => ({
        position,
        recorded: recorded_at,
        stream: of,
        event: type,
        actor: metadata.actor ?? '',
        request: metadata.request_id ?? '',
        'because of': cause(metadata.causation_id),
        operation: metadata.operation_id ?? '',
        leaf: leaf.index === null ? leaf.proof : `${leaf.index}, ${leaf.proof}`,
        data: JSON.stringify(data),
      })),
    ),
    ...printTable(
      deliveries.map(({ delivery_id: delivery, type, state, attempts, url, attempt_list }) => ({
        delivery,
        type,
        state,
        attempts: String(attempts),
        'last response': String(attempt_list.at(-1)?.http_status ?? attempt_list.at(-1)?.error ?? ''),
        address: url ?? '',
      })),
    ),
    ...printTable(
      changed_rows.map(({ what, id, at }) => ({ 'changed row': what, id, at: at.toISOString() })),
    ),
    ...printTable(missing.map(({ event_id, stream: of }) => ({ 'NOT in the log': event_id, stream: of }))),
    '',
    `causes, from the last event back: ${causes.join(' ← ')}`,
    head === null
      ? 'no head is signed yet'
      : `head over ${head.size} events, root ${head.root}${head.problem === null ? '' : `, NOT to be trusted: ${head.problem}`}`,
  ].join('\n');
}

export function auditProgram(program: Command, cli: CliContext): void {
  program.description('Proves the books.');
  balanceProgram(program, cli);
  explainProgram(program, cli);
  exportProgram(program, cli);
  verifyProgram(program, cli);
  ledgerProgram(program, cli);
}

const PART_EVENTS = 100_000;
const MAX_PART_EVENTS = 10_000_000;

interface Options {
  readonly out?: string;
  readonly merchant?: string;
  readonly from?: string;
  readonly to?: string;
  readonly partEvents?: string;
}

function exportProgram(program: Command, cli: CliContext): void {
  program
    .command('export')
    .description(
      'write the events as they are stored, one line of JSON each with its hash; personal fields stay sealed',
    )
    .option(
      '--out <folder>',
      'into parts with a manifest; the same command continues after the last whole part. Without it: the lines alone, to standard output',
    )
    .option('--merchant <id>', "only a merchant's")
    .option('--from <point>', `after this position, or from this time on. ${POINT_FORMS}`)
    .option('--to <point>', 'up to this position, or before this time')
    .option('--part-events <number>', 'events of a part', String(PART_EVENTS))
    .action(async ({ out, ...options }: Options) => {
      const scope = toScope(options);
      collectEarly(50);
      await connected(cli, async (database, store) => {
        const progress = createProgress();
        if (out === undefined) {
          const end = await store.head();
          return printLines(exportedLines(store, scope, { end, progress }));
        }
        const path = resolve(out);
        // The head is read before the keys, so that these include the keys of the head and of the events.
        const signed = async (size: number): Promise<Signed> => ({
          signed_head: await new Heads(database).newest(size),
          signing_keys: (await new SigningKeys(database).all()).map(readKey),
          key_ring: wrappedKeys(await readCopies(database)),
        });
        const folder = await ExportFolder.at(path);
        const exported = await exportTo(folder, store, scope, { progress, signed, now: new Date() });
        printResult(program, cli, exported.manifest, () => describe(exported, path));
      });
    });
}

function toScope({
  merchant,
  from,
  to,
  partEvents = String(PART_EVENTS),
}: Omit<Options, 'out'>): ExportScope {
  if (merchant !== undefined && !isUuid(merchant)) throw DomainError.notFound('Merchant');
  const events = /^[0-9]{1,8}$/.test(partEvents) ? Number(partEvents) : 0;
  if (events < 1 || events > MAX_PART_EVENTS)
    throw new DomainError('bad_request', `--part-events must be a number from 1 to ${MAX_PART_EVENTS}`);
  return {
    merchant: merchant?.toLowerCase() ?? null,
    from: toPointText(readOptionPoint('--from', from)),
    to: toPointText(readOptionPoint('--to', to)),
    part_events: events,
  };
}

function readOptionPoint(option: string, text: string | undefined): LogPoint | null {
  if (text === undefined) return null;
  const point = readPoint(text);
  if (point === null) throw new DomainError('bad_request', `${option} must be ${POINT_FORMS}`);
  return point;
}

function toPointText(point: LogPoint | null): string | null {
  return point?.kind === 'time' ? point.time.toISOString() : (point?.position ?? null);
}

function describe({ manifest, resumed }: Exported, path: string): string {
  const { events, parts, first_position, last_position, merkle_root, scope } = manifest;
  const lines = [
    `${counted(events, 'event')} in ${counted(parts.length, 'part')}, positions ${first_position ?? 'none'} to ${last_position ?? 'none'}: ${path}`,
  ];
  if (resumed === null) lines.push('It was complete before: nothing was left to do.');
  else if (resumed > 0) lines.push(`${counted(resumed, 'event')} were there from an earlier run.`);
  if (isWhole(scope)) lines.push(`Merkle root ${merkle_root}`);
  return lines.join('\n');
}
