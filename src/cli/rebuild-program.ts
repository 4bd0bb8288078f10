import { NestFactory } from '@nestjs/core';
import { Command } from 'commander';
import { AppModule } from '../app.module.js';
import { ReadModelRebuild } from '../platform/projections/read-model-rebuild.js';
import { rebuildReadModels } from '../platform/projections/rebuild-program.js';
import { DomainError } from '../kernel/domain-error.js';
import type { Config } from '../platform/config/config.js';
import { operatorConfig, type OperatorIo } from './operator.js';

/** `npm run rebuild`: builds read models anew from the events, while the service runs. */
export function rebuildProgram(io: OperatorIo): Command {
  return new Command('rebuild')
    .description(
      'Builds read models anew from the events. Readers see the old rows until the new ones are complete.',
    )
    .argument('[names...]', 'read models, such as payouts.views; all of them when none is named')
    .action(async (names: string[]) => {
      // Every context is needed, because each brings its read models; with no role, and no sandbox parts, nothing runs.
      const config: Config = { ...operatorConfig(io.env), mode: 'production' };
      const context = await NestFactory.createApplicationContext(AppModule.of(config), {
        logger: false,
        abortOnError: false,
      });
      try {
        const known = context.get(ReadModelRebuild, { strict: false }).names();
        const unknown = names.filter((name) => !known.includes(name));
        if (unknown.length > 0) {
          throw new DomainError(
            'bad_request',
            `No read model ${unknown.join(', ')}. There are: ${known.join(', ')}`,
          );
        }
        await rebuildReadModels(context, names, io.print);
      } finally {
        await context.close();
      }
    });
}
