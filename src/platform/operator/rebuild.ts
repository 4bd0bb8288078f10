import type { Command } from 'commander';
import { DomainError } from '../../kernel/domain-error.js';
import type { Operator } from './operator.js';
import { ReadModelRebuild } from '../projections/read-model-rebuild.js';

/** `npm run rebuild`: builds read models anew from the events, while the service runs. */
export function rebuildProgram(program: Command, { boot, print }: Operator): void {
  program
    .description(
      'Builds read models anew from the events. Readers see the old rows until the new ones are complete.',
    )
    .argument('[names...]', 'read models, such as payouts.views; all of them when none is named')
    .action(async (names: string[]) => {
      const context = await boot('service');
      try {
        const readModels = context.get(ReadModelRebuild, { strict: false });
        const known = readModels.names();
        const unknown = names.filter((name) => !known.includes(name));
        if (unknown.length > 0) {
          throw new DomainError(
            'bad_request',
            `No read model ${unknown.join(', ')}. There are: ${known.join(', ')}`,
          );
        }
        for (const name of names.length > 0 ? names : known) {
          const started = performance.now();
          const { events, position } = await readModels.rebuild(name, print);
          const seconds = ((performance.now() - started) / 1000).toFixed(1);
          print(
            `${name}: ${events} ${events === 1 ? 'event' : 'events'} up to position ${position ?? 'none'} in ${seconds} s`,
          );
        }
      } finally {
        await context.close();
      }
    });
}
