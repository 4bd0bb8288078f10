const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    {
      swcrc: false,
      sourceMaps: 'inline',
      module: { type: 'es6' },
      jsc: {
        target: 'es2023',
        keepClassNames: true,
        parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
        transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      },
    },
  ],
  // light-my-request requires the ESM-only cookie 2, which node 20 cannot load under Jest's own module system.
  'node_modules/cookie/.+\\.js$': ['@swc/jest', { swcrc: false, module: { type: 'commonjs' } }],
};

/** One Jest run; `--selectProjects` narrows it to unit specs or to the suites that need real dependencies. */
export default {
  testEnvironment: '<rootDir>/test/support/suite-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform,
  transformIgnorePatterns: ['/node_modules/(?!cookie/)'],
  roots: ['<rootDir>/src', '<rootDir>/sandbox', '<rootDir>/widgets', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  maxWorkers: 2,
  // What a suite loaded stays in its worker: after so much of it another takes over. Without, 250 suites fill the heap.
  workerIdleMemoryLimit: '1GB',
  // Of tests that are `concurrent`.
  maxConcurrency: 2,
  testSequencer: '<rootDir>/test/support/chaos-first.mjs',
  testTimeout: 120_000,
};
