import { Instrumenter } from '@stryker-mutator/instrumenter';

const QUIET = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [level, () => undefined]),
);

/** Returns the files with every fault that StrykerJS creates in them, and the list of faults. */
export function instrument(files) {
  const logger = { ...QUIET, isDebugEnabled: () => false };
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  return new Instrumenter(logger).instrument(files, options);
}
