/**
 * The folders and files of src/platform, lowest first: each may import those before it. A new one needs its place here.
 */
const PLATFORM = [
  ...[
    'timeout',
    'cache-size',
    'failpoints',
    'version',
    'discovered-methods',
    'config',
    'dto',
    'telemetry',
    'postgres',
    'jobs',
    'json-text',
    'sealing',
    'outbound',
    'chain',
  ],
  ...['event-store', 'projections', 'idempotency', 'operations', 'openapi', 'http', 'context|cli', 'boot'],
];
const inPlatform = (names) => `^src/platform/(${names.join('|')})(/|\\.ts$)`;
const SPEC = '\\.spec\\.ts$';
/** The files of a context whose suffix is one of these: `<context>/<resource>/<name>.<suffix>.ts`. */
const kinds = (...suffixes) => `^src/contexts/([^/]+)/.*\\.(${suffixes.join('|')})\\.ts$`;
const own = (pattern) => pattern.replace('([^/]+)', '$1');
/** Files without a suffix: aggregates, their events and pure rules. */
const DOMAIN = '^src/contexts/([^/]+)/(?!migrations/|words/)[^/]+/[^/.]+\\.ts$';
const CONTRACT = '^src/contexts/([^/]+)/[^/]+\\.contract\\.ts$';
/** Files that are next to the folders of resources. */
const ROOT_FILE = '^src/contexts/[^/]+/[^/]+\\.(module|config|contract|metrics|webhooks)\\.ts$';
const USE_CASES = ['commands', 'service', 'saga', 'processor', 'ports'];
const EDGES = ['controller', 'guard', 'dto', 'page'];
const SQL_PACKAGES = '(^|/)node_modules/(@types/)?(pg|pg-copy-streams|typeorm)/';

/** The dependency rules of docs/adr/0109: what may import what. Each one is tested with a planted violation. */
export default {
  forbidden: [
    {
      name: 'kernel-imports-nothing',
      comment: 'The kernel is pure: no other folder, no package but big.js and what Node brings.',
      severity: 'error',
      from: { path: '^src/kernel/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^src/kernel/|^node_modules/big\\.js|^node_modules/@types/big\\.js|^(node:)?crypto$' },
    },
    {
      name: 'contexts-meet-at-contracts',
      comment: 'A context sees of another only its `<name>.contract.ts`.',
      severity: 'error',
      from: { path: `^src/contexts/([^/]+)/` },
      to: {
        path: `^src/contexts/([^/]+)/`,
        pathNot: ['^src/contexts/$1/', CONTRACT],
      },
    },
    {
      name: 'domain-is-pure',
      comment:
        'A file without a suffix imports the kernel and others like it: no framework, no database, no clock.',
      severity: 'error',
      from: { path: DOMAIN, pathNot: SPEC },
      to: { pathNot: ['^src/kernel/', own(DOMAIN), CONTRACT] },
    },
    {
      name: 'contract-is-pure',
      comment:
        'A contract is names: it imports the kernel, other contracts and what it gives of its own context.',
      severity: 'error',
      from: { path: CONTRACT },
      to: {
        pathNot: [
          '^src/kernel/',
          '^src/platform/event-store/(port|event-codec)\\.ts$',
          own(DOMAIN),
          own(kinds(...USE_CASES, 'view')),
          CONTRACT,
          '^node_modules/@nestjs/cqrs/',
        ],
      },
    },
    {
      name: 'use-cases-know-no-edges',
      comment: 'Commands, services, sagas and processors do not import adapters or HTTP.',
      severity: 'error',
      from: { path: kinds(...USE_CASES), pathNot: SPEC },
      to: {
        path: [
          kinds('adapter', ...EDGES),
          '^src/platform/http/(?!merchant-directory)',
          '^node_modules/fastify',
        ],
      },
    },
    {
      name: 'views-read-events-only',
      comment: 'A read model is built from events: not from commands, services, adapters or HTTP.',
      severity: 'error',
      from: { path: kinds('view'), pathNot: SPEC },
      to: { path: kinds('adapter', 'commands', 'service', 'ports', ...EDGES) },
    },
    {
      name: 'platform-knows-no-context',
      comment: 'Platform and kernel serve every context and import none.',
      severity: 'error',
      from: { path: '^src/(platform|kernel)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/contexts/' },
    },
    ...PLATFORM.map((name, place) => ({
      name: 'platform-arrows-point-down',
      comment: 'A mechanism knows those below it: the order is the list at the head of this file.',
      severity: 'error',
      from: { path: inPlatform([name]), pathNot: SPEC },
      to: { path: '^src/platform/', pathNot: inPlatform(PLATFORM.slice(0, place + 1)) },
    })),
    {
      name: 'platform-folders-have-a-place',
      comment:
        'A folder of the platform that is not in the list at the head of this file may import nothing.',
      severity: 'error',
      from: { path: '^src/platform/', pathNot: [inPlatform(PLATFORM), SPEC] },
      to: {},
    },
    {
      name: 'use-cases-speak-no-sql',
      comment: 'Tables are read and written in stores and views; the processors of webhooks drain theirs.',
      severity: 'error',
      from: {
        path: [DOMAIN, kinds(...USE_CASES, ...EDGES)],
        pathNot: [SPEC, '^src/contexts/webhooks/.*processor\\.ts$'],
      },
      to: { path: [SQL_PACKAGES, '^src/platform/postgres/(database|list-page|session-settings)'] },
    },
    {
      name: 'store-knows-no-use-case',
      comment: 'What keeps tables serves the use cases and does not know them.',
      severity: 'error',
      from: { path: kinds('store'), pathNot: SPEC },
      to: { path: own(kinds('adapter', 'view', ...USE_CASES, ...EDGES)) },
    },
    {
      name: 'http-knows-the-edge',
      comment:
        'A controller turns requests into commands and queries: of the mechanisms it needs those of HTTP and reading.',
      severity: 'error',
      from: { path: kinds(...EDGES), pathNot: SPEC },
      to: {
        path: inPlatform(['jobs', 'postgres', 'outbound', 'event-store/(?!port)[^/]+']),
      },
    },
    {
      name: 'adapters-know-no-http',
      comment: 'An outgoing client serves a port of the application.',
      severity: 'error',
      from: { path: kinds('adapter'), pathNot: SPEC },
      to: { path: own(kinds('view', ...EDGES)) },
    },
    {
      name: 'files-have-a-kind',
      comment: 'A file of a context has no suffix or one of the known ones, else no rule would hold it.',
      severity: 'error',
      from: {
        path: '^src/contexts/[^/]+/.*\\.[^/]*\\.ts$',
        pathNot: [SPEC, kinds('adapter', 'store', 'view', 'program', ...USE_CASES, ...EDGES), ROOT_FILE],
      },
      to: {},
    },
    {
      name: 'product-knows-no-sandbox',
      comment: 'The programs of the sandbox are composed on top of the service.',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^sandbox/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { pathNot: '\\.spec\\.ts$' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-tests-in-production',
      severity: 'error',
      from: { path: '^(src|sandbox)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|bench)/|\\.spec\\.ts$' },
    },
    {
      name: 'no-dev-packages-in-production',
      severity: 'error',
      from: { path: '^(src|sandbox)/', pathNot: '\\.spec\\.ts$' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '^node_modules/@types/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    moduleSystems: ['es6'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
