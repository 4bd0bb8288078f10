// Runs one spec after the other in one warm process, because Jest needs 2 s per start, each with the
// requested mutant. Sends `failed` at the first test that fails, and `ended` at the end of the spec.
import { readFileSync } from 'node:fs';
import { readConfig } from 'jest-config';
import TestRunner from 'jest-runner';
import Runtime from 'jest-runtime';
import { TestWatcher } from 'jest-watcher';

const root = process.cwd();
const swc = JSON.parse(readFileSync(`${root}/.swcrc`, 'utf8'));
const { default: base } = await import(`${root}/jest.config.mjs`);
// Jest's sandbox loads modules again for each spec, which a fault in the loading of a module needs.
const settings = {
  ...base,
  testRunner: undefined,
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { ...swc, swcrc: false, exclude: [], module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
    // light-my-request requires the ESM-only cookie 2, which Jest's own module system does not support.
    'node_modules/cookie/.+\\.js$': ['@swc/jest', { swcrc: false, module: { type: 'commonjs' } }],
  },
  transformIgnorePatterns: ['/node_modules/(?!cookie/)'],
  rootDir: root,
  cacheDirectory: process.env.MUTANTS_CACHE,
  testEnvironment: `${root}/test/mutants/environment.mjs`,
  globalSetup: undefined,
  globalTeardown: undefined,
};
const argv = { $0: 'jest', _: [], silent: true, runInBand: true, watchman: false };
const { globalConfig, projectConfig } = await readConfig(argv, settings, false, root);
const context = await Runtime.createContext(projectConfig, { maxWorkers: 1, watchman: false });

process.on('disconnect', () => process.exit());
process.on('message', ({ spec, mutant }) => void run(spec, mutant));
process.send({ ready: true });

async function run(spec, mutant) {
  process.env.__STRYKER_ACTIVE_MUTANT__ = mutant ?? '';
  globalThis.reachedMutants = [];
  let failed = false;
  const fail = () => {
    failed = true;
    process.send({ failed });
  };
  const runner = new TestRunner(globalConfig, { sourcesRelatedToTestsInChangedFiles: undefined });
  runner.on('test-case-result', ([, { status }]) => status === 'failed' && fail());
  runner.on('test-file-failure', fail);
  runner.on('test-file-success', ([, { testExecError, numFailingTests }]) => {
    if (testExecError || numFailingTests > 0) fail();
  });
  await runner.runTests([{ context, path: `${root}/${spec}` }], new TestWatcher({ isWatchMode: false }), {
    serial: true,
  });
  process.send({ ended: true, failed, reached: globalThis.reachedMutants, rss: process.memoryUsage.rss() });
}
