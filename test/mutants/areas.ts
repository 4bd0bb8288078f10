/** Files in which faults are planted, and the suites that run after the specs next to the file. */
interface Area {
  readonly name: string;
  readonly files: RegExp;
  readonly suites: readonly string[];
}

export const AREAS: readonly Area[] = [
  { name: 'domain', files: /^src\/contexts\/[^/]+\/(?!words\/)[^/]+\/[^/.]+\.ts$/, suites: [] },
  {
    name: 'authentication',
    files:
      /^src\/(platform\/http\/api|contexts\/(access\/credentials\/signature|exchange\/orders\/(exchange-key|order-signature)))\.guard\./,
    suites: [
      'test/contract/signature.spec.ts',
      'test/contract/exchange-signature.spec.ts',
      'test/e2e/edge/edge-limits.e2e.ts',
      'test/e2e/exchange/exchange-authentication.e2e.ts',
    ],
  },
  {
    name: 'idempotency',
    files: /^src\/platform\/idempotency\//,
    suites: [
      'test/e2e/edge/edge-limits.e2e.ts',
      'test/e2e/edge/expired-keys.e2e.ts',
      'test/e2e/users/users-erasure.e2e.ts',
    ],
  },
  {
    name: 'sealing',
    files: /^src\/platform\/(sealing\/|event-store\/authentic)/,
    suites: ['test/e2e/users/users-erasure.e2e.ts'],
  },
  {
    name: 'ledger',
    files:
      /^src\/contexts\/audit\/(ledger\/(heads|ledger|head-signer)|verify\/(check-ledger|checked-ledger))/,
    suites: ['test/e2e/audit/ledger.e2e.ts', 'test/e2e/audit/audit.e2e.ts'],
  },
  {
    name: 'amounts',
    // Parsing and formatting of amounts. The suites open the built page, into which no fault is planted.
    files: /^widgets\/pay\/(amount-entry|decimal-text)\./,
    suites: [],
  },
];

export function areaOf(file: string): Area | undefined {
  if (/\.spec\.tsx?$|\/migrations\//.test(file)) return undefined;
  return AREAS.find(({ files }) => files.test(file));
}
