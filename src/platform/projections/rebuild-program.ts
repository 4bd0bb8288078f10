import type { INestApplicationContext } from '@nestjs/common';
import { ReadModelRebuild } from './read-model-rebuild.js';

/**
 * What an operator's program calls to rebuild read models: the named ones, or all. Prints a line for each as it is
 * done. The context must hold the modules whose read models these are; roles play no part.
 */
export async function rebuildReadModels(
  context: INestApplicationContext,
  names: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  const readModels = context.get(ReadModelRebuild, { strict: false });
  for (const name of names.length > 0 ? names : readModels.names()) {
    const started = performance.now();
    const { events, position } = await readModels.rebuild(name, print);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    print(
      `${name}: ${events} ${events === 1 ? 'event' : 'events'} up to position ${position ?? 'none'} in ${seconds} s`,
    );
  }
}
