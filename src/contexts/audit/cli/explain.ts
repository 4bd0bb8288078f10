import type { Command } from 'commander';
import { eventsOf, type CheckedTables } from '../../../platform/context.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { ROW_CHANGES, type RowChange } from '../../../platform/postgres/row-changes.js';
import type { Database } from '../../../platform/postgres/database.js';
import { inOneLine } from '../../../platform/cli/printable.js';
import { AuditedPayouts } from '../../payouts/contract.js';
import { AuditedDeliveries } from '../../webhooks/contract.js';
import {
  bareName,
  type ExplainedBalance,
  type ExplainedEvent,
  type Explanation,
  type Row,
  type Sources,
} from '../application/causes.js';
import { explainDelivery } from '../application/explain-delivery.js';
import { explainBalance, explainOrder, explainPayout } from '../application/explain.js';
import { explainOperation, type ProvingSources } from '../application/explain-operation.js';
import { POINT_FORMS } from '../domain/log-point.js';
import { storedLedger } from './ledger.js';
import { columns, printResult, progressOf, time } from './output.js';

/** `npm run audit -- explain ...`: the events behind a figure, and the cause of each. Changes nothing. */
export function explainProgram(program: Command, cli: CliContext): void {
  const explain = program.command('explain').description('the events behind something, and what caused them');
  const print = async <Explained extends Explanation>(
    explained: (sources: ProvingSources) => Promise<Explained>,
    text: (explained: Explained) => string,
  ): Promise<void> =>
    printResult(
      program,
      cli,
      await connected(cli, async (database, log) => {
        const rowChanges = (id: string): Promise<readonly RowChange[]> =>
          database.query<RowChange & Record<string, unknown>>(ROW_CHANGES, [id]);
        const stored = { ledger: storedLedger(database), logId: await log.identity(), rowChanges };
        return explained({ ...sourcesOf(cli, database, log), ...stored });
      }),
      text,
    );
  for (const [name, what, explained] of [
    ['payout', 'its events, its evidence, and its deliveries to the merchant', explainPayout],
    ['order', 'its events, and its deliveries to the merchant', explainOrder],
    ['delivery', 'its event, and each attempt', explainDelivery],
    [
      'operation',
      'from the person to each event that it wrote, its leaf and a signed head',
      explainOperation,
    ],
  ] as const)
    explain
      .command(`${name} <id>`)
      .description(what)
      .action((id: string) => print((sources) => explained(sources, id), explanationText));
  explain
    .command('balance <user>')
    .description('every event that moved it')
    .option('--at <point>', POINT_FORMS)
    .option('--quick', 'let the read model say which payouts the user has')
    .action((user: string, { at, quick }: { at?: string; quick?: boolean }) =>
      print((sources) => explainBalance(sources, user, { at, quick, progress: progressOf() }), balanceText),
    );
}

function sourcesOf({ contexts }: CliContext, database: Database, log: Sources['log']): Sources {
  const query: CheckedTables['query'] = (sql, values) => database.query(sql, values);
  return {
    log,
    payouts: new AuditedPayouts(query),
    deliveries: new AuditedDeliveries(query),
    sealed: new Map(contexts.flatMap(eventsOf).map(({ type, sealed }) => [type, new Set(sealed?.fields)])),
  };
}

function explanationText(explanation: Explanation): string {
  const { what, figure, events, sections } = explanation;
  return [
    what,
    ...rowLines(figure),
    '',
    'events (UTC)',
    ...(events.length === 0
      ? ['  none in the log']
      : events.flatMap((event) => eventLines(event, explanation))),
    ...sections.flatMap(({ title, rows }) => ['', title, ...rowLines(rows)]),
    ...causeChain(explanation),
  ].join('\n');
}

/** One line per event, with the balance after it. */
function balanceText({ what, figure, events, after }: ExplainedBalance): string {
  const head = ['time (UTC)', 'position', 'event', 'payout', 'pending', 'confirmed', 'caused by'];
  const lines = events.map(({ recorded_at: at, position, type, stream, cause }, place) => [
    time(at),
    position,
    bareName(type),
    stream.replace('payout-', ''),
    after[place]!.pending,
    after[place]!.confirmed,
    cause.request_id === null ? `${cause.actor}${because(cause)}` : `${cause.actor}, ${cause.request_id}`,
  ]);
  return [
    what,
    ...rowLines(figure),
    '',
    ...(lines.length === 0
      ? ['no payouts']
      : [
          ...columns([head, ...lines], [1, 4, 5]),
          '',
          'audit -- explain payout ID prints the evidence of each figure',
        ]),
  ].join('\n');
}

function eventLines(
  { position, recorded_at: at, type, says, cause }: ExplainedEvent,
  { merchants, operations }: Explanation,
): string[] {
  const { actor, request_id: request, merchant_id: merchant, key_id: key, traceparent } = cause;
  // The events of an operation are of it.
  const operation = type.startsWith('operation.') ? null : cause.operation_id;
  const from =
    cause.causation_id !== null && because(cause) === '' ? `, because of ${cause.causation_id}` : '';
  const caller = [
    `request ${request}`,
    ...(merchant === null ? [] : [`merchant ${named(merchant, merchants)}`]),
    ...(key === null ? [] : [`key ${key}`]),
  ];
  return [
    `  ${time(at)}  position ${position}  ${bareName(type)}`,
    ...says.map((line) => `    ${inOneLine(line)}`),
    `    by ${actor}${because(cause)}${from}`,
    ...(request === null ? [] : [`       ${caller.join(', ')}`]),
    ...(operation === null
      ? []
      : [`       operation ${operation}, ${inOneLine(operations[operation] ?? '')}`]),
    ...(traceparent === null ? [] : [`       traceparent ${traceparent}`]),
  ];
}

function because({ causing_position: position }: ExplainedEvent['cause']): string {
  return position === null ? '' : `, because of position ${position}`;
}

/** From the last event back to the merchant's request. */
function causeChain({ chain, events, merchants }: Explanation): string[] {
  const links = chain.flatMap((position) => events.filter((event) => event.position === position));
  if (links.length === 0) return [];
  const lines = links.map(({ type, position, cause }) => [
    `${bareName(type)} at ${position}`,
    `by ${cause.actor}`,
  ]);
  const { request_id: request, merchant_id: merchant } = links.at(-1)!.cause;
  if (request !== null)
    lines.push([`request ${request}`, merchant === null ? '' : `of merchant ${named(merchant, merchants)}`]);
  return ['', 'why', ...columns(lines).map((line, place) => `  ${place === 0 ? '  ' : '← '}${line}`)];
}

function named(id: string, merchants: Explanation['merchants']): string {
  const name = merchants[id];
  return name === undefined ? id : `${id} (${inOneLine(name)})`;
}

function rowLines(rows: readonly Row[]): string[] {
  return columns(rows.map(([label, text]) => [label, inOneLine(text)])).map((line) => `  ${line}`);
}
