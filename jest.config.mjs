/** One Jest run. Suites are modules of Node itself, without Jest's sandbox: ADR 165. Both tiers: test/README.md. */
export default {
  testRunner: '<rootDir>/test/support/jest/run-suite.mjs',
  testEnvironment: '<rootDir>/test/support/jest/suite-environment.mjs',
  // Jest itself transforms nothing: test/support/jest/module-hooks.mjs does.
  transform: {},
  roots: ['<rootDir>/src', '<rootDir>/sandbox', '<rootDir>/widgets', '<rootDir>/packages', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/packages/sdk/dist/'],
  globalSetup: '<rootDir>/test/support/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.mjs',
  reporters: ['<rootDir>/test/support/jest/progress-reporter.mjs'],
  maxWorkers: 3,
  // What a suite leaves stays in its worker: after so much of it another takes over.
  workerIdleMemoryLimit: '1GB',
  // Of tests that are `concurrent`.
  maxConcurrency: 2,
  testSequencer: '<rootDir>/test/support/jest/longest-first.mjs',
  testTimeout: 400_000,
};
