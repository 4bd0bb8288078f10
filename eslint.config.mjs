import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'packages/sdk/src/generated/**',
      'node_modules/**',
      'coverage/**',
      '.sandbox/**',
      'sandbox/contracts/test-usdc.ts',
      'test/architecture/planted/**',
    ],
  },
  eslint.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // `n += await f()` loses what another call added meanwhile.
      'require-atomic-updates': 'error',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      eqeqeq: 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "ReturnStatement > TSSatisfiesExpression[expression.name='event'][typeAnnotation.type='TSNeverKeyword']",
          message: 'An event of a newer version would become the state: return the state as it was.',
        },
      ],
      'no-console': 'error',
    },
  },
  {
    // Class-typed constructor parameters are injected by Nest: the import must stay a value import.
    files: ['src/**/*.ts', 'sandbox/**/*.ts'],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    files: ['src/**/cli.ts', 'src/**/cli/**/*.ts', 'src/**/*.program.ts', 'bench/**/*.ts', 'test/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // Suites of one worker share modules, so that a module at the side would keep what belongs to the first suite (ADR 165).
    files: ['test/**/*.ts', 'src/**/*.ts', 'sandbox/**/*.ts', 'widgets/**/*.ts', 'packages/**/*.ts'],
    ignores: ['**/*.{spec,e2e,tests,conformance,planted}.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@jest/globals',
              importNames: ['describe', 'it', 'test', 'expect'],
              message: 'A support module says whether (canRender); the suite decides.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'setTimeout',
          'clearTimeout',
          'setInterval',
          'clearInterval',
          'setImmediate',
          'URL',
          'URLSearchParams',
          'Buffer',
          'fetch',
          'AbortSignal',
          'AbortController',
          'performance',
          'structuredClone',
          'TextDecoder',
          'TextEncoder',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
