import type { Command } from 'commander';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { explain, type Walk } from '../application/explain.js';
import { storedLedger } from './ledger.js';
import { printResult, printTable, time } from './output.js';

/** `npm run audit -- explain KIND ID`: the events of one stream, their causes, leaves and deliveries. Changes nothing. */
export function explainProgram(program: Command, cli: CliContext): void {
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

/** One table for each part of the walk. */
function printWalk({ stream, events, causes, deliveries, changed_rows, missing, head }: Walk): string {
  const positions = new Map(events.map(({ id, position }) => [id, position]));
  const cause = (id = ''): string => positions.get(id) ?? id;
  return [
    stream,
    ...printTable(
      events.map(({ position, recorded_at, stream: of, type, data, metadata, leaf }) => ({
        position,
        'recorded (UTC)': time(recorded_at),
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
      changed_rows.map(({ what, id, at }) => ({ 'changed row': what, id, 'at (UTC)': time(at) })),
    ),
    ...printTable(missing.map(({ event_id, stream: of }) => ({ 'NOT in the log': event_id, stream: of }))),
    '',
    `causes, from the last event back: ${causes.join(' ← ')}`,
    head === null
      ? 'no head is signed yet'
      : `head over ${head.size} events, root ${head.root}${head.problem === null ? '' : `, NOT to be trusted: ${head.problem}`}`,
  ].join('\n');
}
