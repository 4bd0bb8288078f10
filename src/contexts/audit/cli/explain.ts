import type { Command } from 'commander';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { inOneLine } from '../../../platform/cli/printable.js';
import { explain, type Walk } from '../application/explain.js';
import { storedLedger } from './ledger.js';
import { columns, printResult, time } from './output.js';

/** `npm run audit -- explain KIND ID`: the events of one stream, their causes, leaves and deliveries. Changes nothing. */
export function explainProgram(program: Command, cli: CliContext): void {
  program
    .command('explain <kind> <id>')
    .description('the events of a payout, order, user, operation or delivery, their causes and deliveries')
    .action(async (kind: string, id: string) => {
      const walk = await connected(cli, async (database, log) =>
        explain({ log, query: (sql, values) => database.query(sql, values), ...storedLedger(database) }, kind, id),
      );
      printResult(program, cli, walk, printWalk);
    });
}

/** One table for each part of the walk. */
function printWalk({ stream, events, causes, deliveries, changed_rows, missing, head }: Walk): string {
  const positions = new Map(events.map(({ id, position }) => [id, position]));
  const cause = (id = ''): string => positions.get(id) ?? id;
  const tables: readonly (readonly (readonly string[])[])[] = [
    [
      [
        'position',
        'recorded (UTC)',
        'stream',
        'event',
        'actor',
        'request',
        'because of',
        'operation',
        'leaf',
        'data',
      ],
      ...events.map(({ position, recorded_at, stream: of, type, data, metadata, leaf }) => [
        position,
        time(recorded_at),
        of,
        type,
        metadata.actor ?? '',
        metadata.request_id ?? '',
        cause(metadata.causation_id),
        metadata.operation_id ?? '',
        leaf.index === null ? leaf.proof : `${leaf.index}, ${leaf.proof}`,
        JSON.stringify(data),
      ]),
    ],
    [
      ['delivery', 'type', 'state', 'attempts', 'last response', 'address'],
      ...deliveries.map(({ delivery_id, type, state, attempts, url, attempt_list }) => {
        const last = attempt_list.at(-1);
        return [
          delivery_id,
          type,
          state,
          String(attempts),
          String(last?.http_status ?? last?.error ?? ''),
          url ?? '',
        ];
      }),
    ],
    [['changed row', 'id', 'at (UTC)'], ...changed_rows.map(({ what, id, at }) => [what, id, time(at)])],
    [['NOT in the log', 'stream'], ...missing.map(({ event_id, stream: of }) => [event_id, of])],
  ];
  return [
    stream,
    ...tables
      .filter(({ length }) => length > 1)
      .flatMap((rows) => ['', ...columns(rows.map((row) => row.map(inOneLine)))]),
    '',
    `causes, from the last event back: ${causes.join(' ← ')}`,
    head === null
      ? 'no head is signed yet'
      : `head over ${head.size} events, root ${head.root}${head.problem === null ? '' : `, NOT to be trusted: ${head.problem}`}`,
  ].join('\n');
}
