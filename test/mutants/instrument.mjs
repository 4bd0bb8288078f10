import { Instrumenter } from '@stryker-mutator/instrumenter';

const QUIET = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [level, () => undefined]),
);

/** The files with every fault in them that StrykerJS makes, and what the faults are. */
export function instrument(files) {
  const logger = { ...QUIET, isDebugEnabled: () => false };
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  return new Instrumenter(logger).instrument(files, options);
}
