import type { Command } from 'commander';
import { DomainError } from '../../kernel/domain-error.js';
import { RebuildProjection, RebuildProjectionHandler } from './system-commands.js';
import type { CliContext } from './cli-context.js';
import { counted } from './output.js';
import { createWriter, withReason } from './write.js';
import { ReadModelRebuild, type Rebuilt } from '../projections/read-model-rebuild.js';

/** `npm run rebuild`: rebuilds read models from the events, while the service runs. */
export function rebuildProgram(program: Command, cli: CliContext): void {
  const { boot, print } = cli;
  withReason(program)
    .description(
      'Rebuilds read models from the events. Readers see the old rows until the new ones are complete; npm run audit -- verify reports which rows are wrong.',
    )
    .argument('[names...]', 'read models, such as payouts.views; all of them when none is named')
    .action(async function (this: Command, names: string[]) {
      const asJson = program.opts<{ json?: boolean }>().json === true;
      const context = await boot();
      try {
        const known = context.get(ReadModelRebuild, { strict: false }).names();
        const unknown = names.filter((name) => !known.includes(name));
        if (unknown.length > 0) {
          const message = `No read model ${unknown.join(', ')}. There are: ${known.join(', ')}`;
          throw new DomainError('bad_request', message);
        }
        if (!asJson) context.get(RebuildProjectionHandler, { strict: false }).print = print;
        const { write } = createWriter(this, context);
        for (const name of names.length > 0 ? names : known) {
          const started = performance.now();
          const rebuilt = (await write(new RebuildProjection(name), null)) as Rebuilt;
          const seconds = (performance.now() - started) / 1000;
          print(asJson ? JSON.stringify({ ...rebuilt, seconds }) : describe(rebuilt, seconds));
        }
      } finally {
        await context.close();
      }
    });
}

function describe({ name, events, position }: Rebuilt, seconds: number): string {
  return `${name}: ${counted(events, 'event')} up to position ${position ?? 'none'} in ${seconds.toFixed(1)} s, rebuilt`;
}
