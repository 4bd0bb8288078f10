import type { Command } from 'commander';
import { DomainError } from '../../kernel/domain-error.js';
import { HoldEventType, RebuildProjection, RebuildProjectionHandler } from './system-commands.js';
import type { CliContext } from './cli-context.js';
import { counted, EXIT_WRONG } from './output.js';
import { createWriter, writes } from './write.js';
import type { TableComparison } from '../projections/compare-tables.js';
import { ReadModelRebuild, type Rebuilt } from '../projections/read-model-rebuild.js';

interface Options {
  readonly compare: boolean;
  readonly compareOnly?: boolean;
}

/** `npm run rebuild`: rebuilds read models from the events, while the service runs. */
export function rebuildProgram(program: Command, cli: CliContext): void {
  const { boot, print, exit } = cli;
  program
    .description(
      'Rebuilds read models from the events, and reports which rows differed. Readers see the old rows until the new ones are complete.',
    )
    .argument('[names...]', 'read models, such as payouts.views; all of them when none is named')
    .option('--compare-only', 'report what differs, and change nothing; exit 2 when anything does')
    .option('--no-compare', 'build and swap alone, which takes less time')
    .option('--reason <text>', 'why, in 3 to 500 characters; required unless nothing is changed')
    .option('--ticket <text>', 'the ticket that it belongs to')
    .action(async function (this: Command, names: string[], { compare, compareOnly = false }: Options) {
      const asJson = program.opts<{ json?: boolean }>().json === true;
      const context = await boot();
      try {
        const readModels = context.get(ReadModelRebuild, { strict: false });
        const known = readModels.names();
        const unknown = names.filter((name) => !known.includes(name));
        if (unknown.length > 0) {
          const message = `No read model ${unknown.join(', ')}. There are: ${known.join(', ')}`;
          throw new DomainError('bad_request', message);
        }
        if (!asJson) context.get(RebuildProjectionHandler, { strict: false }).print = print;
        const writer = compareOnly ? null : createWriter(this, context);
        for (const name of names.length > 0 ? names : known) {
          const started = performance.now();
          const rebuilt = (await (writer === null
            ? readModels.rebuild(name, { compareOnly })
            : writer.write(new RebuildProjection(name, { compare }), null))) as Rebuilt;
          const seconds = (performance.now() - started) / 1000;
          const json = () => JSON.stringify({ ...rebuilt, seconds, compare_only: compareOnly });
          print(asJson ? json() : describe(rebuilt, seconds, compareOnly));
          if (compareOnly && rebuilt.compared?.some(({ different }) => different > 0)) exit(EXIT_WRONG);
        }
      } finally {
        await context.close();
      }
    });
}

function describe({ name, events, position, compared }: Rebuilt, seconds: number, compareOnly: boolean) {
  const done = compareOnly ? 'compared, and left as it is' : 'rebuilt';
  return [
    `${name}: ${counted(events, 'event')} up to position ${position ?? 'none'} in ${seconds.toFixed(1)} s, ${done}`,
    ...(compared ?? []).flatMap(tableLines),
  ].join('\n');
}

function tableLines({ table, rows, different, first }: TableComparison): string[] {
  return [
    `  ${table}: ${counted(rows, 'row')}, ${different} different`,
    ...first.map((line) => `    ${line}`),
  ];
}

/** `npm run subscriptions -- hold`: the opposite of `npm run admin -- system let-pass` (ADR 96). */
export function subscriptionsProgram(program: Command, cli: CliContext): void {
  program.description('Makes subscriptions wait again at an unknown event type that they pass.');
  writes(
    program
      .command('hold <type>')
      .description(
        'removes the rule; a process that has passed the type continues to pass it until it restarts',
      ),
    cli,
    async (_, write, type = '') => {
      await write(new HoldEventType(type), null);
      return { text: `Subscriptions wait at ${type}`, json: { type } };
    },
  );
}
