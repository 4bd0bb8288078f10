import type { Case, Values } from './chart.js';

/** The required values of every installation. */
export const LEAST: Values = {
  secret: { name: 'disburse-secrets' },
  settings: {
    PUBLIC_URL: 'https://api.example.com',
    CHAIN_ID: 137,
    USDC_ADDRESS: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  },
};

/** Merges maps deeply, like Helm. */
export function merged(base: Values, more: Values): Values {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = Object.entries(more).map(([name, value]) => {
    const old = base[name];
    return [name, isMap(old) && isMap(value) ? merged(old, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(entries) };
}

interface Also {
  readonly name?: string;
  readonly files?: readonly string[];
}

/** Merges these values into LEAST. Names are those of `helm --set`, such as `image.tag`. */
export function caseOf(values: Values, { name = 'pay', files = [] }: Also = {}): Case {
  const nested = Object.entries(values).map(([path, value]) =>
    path.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value),
  ) as Values[];
  return { name, namespace: 'money', service: 'Helm', files, values: nested.reduce(merged, LEAST) };
}

export const SIZES = ['one-machine', 'three-nodes', 'region'] as const;
export const sizeFile = (size: string): string => `deploy/helm/${size}.yaml`;

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const namespaced = (name: string): Values => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});
const HOSTS = {
  api: 'api.example.com',
  widget: 'onboarding.example.com',
  pay: 'pay.example.com',
  portal: 'portal.example.com',
};
const TRUST = { settings: { TRUST_PROXY: '10.0.0.0/8' } };
const INGRESS = merged(TRUST, { ingress: { enabled: true, className: 'nginx', hosts: HOSTS } });
const ADMIN_INGRESS = merged(TRUST, {
  adminIngress: { enabled: true, className: 'internal', host: 'admin.example.com' },
  networkPolicy: { operators: [namespaced('ingress-internal')] },
});
const ROLES = ['api', 'worker', 'widget', 'admin', 'portal'];
const SECRET_STORE = { name: 'vault', kind: 'SecretStore' };
const external = (more: Values, name = ''): Values => ({
  secret: { name, external: { enabled: true, store: { name: 'vault' }, ...more } },
});

/** The rendered sets. Every rule applies to each of them. */
export const SETS: Readonly<Record<string, Case>> = {
  'the least': caseOf({}),
  ...Object.fromEntries(SIZES.map((size) => [size, caseOf({}, { files: [sizeFile(size)] })])),
  'a region with Ingresses': caseOf(merged(INGRESS, ADMIN_INGRESS), { files: [sizeFile('region')] }),
  'one machine with Ingresses': caseOf(merged(INGRESS, ADMIN_INGRESS), { files: [sizeFile('one-machine')] }),
  'a release called like the chart': caseOf({}, { name: 'disburse' }),
  'a second release': caseOf({}, { name: 'pay2' }),
  'a long name': caseOf({}, { name: `merchants-of-the-northern-region-production-${'a'.repeat(9)}` }),
  'another long name': caseOf({}, { name: `merchants-of-the-northern-region-production-${'b'.repeat(9)}` }),
  'another name in full': caseOf({ fullnameOverride: 'payments' }),
  'a tag': caseOf({ 'image.repository': 'registry.example.com/disburse', 'image.tag': '1.4.2' }),
  'a digest': caseOf({ 'image.tag': '1.4.2', 'image.digest': DIGEST }),
  'a newer worker': caseOf({ 'image.tag': '1.4.2', 'processes.worker.image.tag': '1.5.0' }),
  'a newer worker by its digest': caseOf({ 'image.tag': '1.4.2', 'processes.worker.image.digest': DIGEST }),
  'a newer worker by its tag, of a digest': caseOf({
    ...{ 'image.digest': DIGEST, 'processes.worker.image.tag': '1.5.0' },
  }),
  'a private registry': caseOf({ imagePullSecrets: [{ name: 'registry' }], 'image.pullPolicy': 'Always' }),
  'large numbers': caseOf({
    settings: { RATE_LIMIT_PER_IP_PER_MINUTE: 10_000_000, MAX_CONNECTIONS: 100_000, REQUIRE_HTTPS: true },
  }),
  'numbers as text': caseOf({ settings: { RATE_LIMIT_PER_IP_PER_MINUTE: '10000000', CHAIN_ID: '137' } }),
  'texts that YAML reads otherwise': caseOf({
    settings: {
      ADMIN_OIDC_CLAIM: 'groups=on: yes # no',
      STRIPE_ISSUING_BILLING_ADDRESS:
        '{"line1":"1 \\"Main\\" St","city":"X: {{ .Y }}","postal_code":"1","country":"US"}',
      LOG_FILE: '0123',
      TWILIO_FROM: '+15550001',
    },
  }),
  'other settings': caseOf({ 'settings.LOG_LEVEL': 'debug' }),
  IPv6: caseOf({ 'settings.HOST': '::' }),
  'a long grace': caseOf({ 'settings.SHUTDOWN_GRACE_MS': 120_000 }),
  'a short grace': caseOf({ 'settings.SHUTDOWN_GRACE_MS': '1000' }),
  'an API that follows its CPU': caseOf({
    'processes.api.autoscaling': { minReplicas: 2, maxReplicas: 6 },
  }),
  'workers that follow the work': caseOf({
    'processes.worker.keda': { serverAddress: 'http://prometheus:9090', minReplicas: 1, maxReplicas: 4 },
  }),
  'workers with a large threshold': caseOf({
    'processes.worker.keda': {
      ...{ serverAddress: 'https://prometheus.example.com', minReplicas: 2, maxReplicas: 8 },
      ...{ fallbackReplicas: 4, threshold: 2_000_000 },
    },
  }),
  'the pages in one process': caseOf({
    processes: {
      ...{ widget: null, admin: null, portal: null },
      pages: { roles: ['widget', 'admin', 'portal'], replicas: 2 },
    },
  }),
  'no pages': caseOf({ processes: { widget: null, admin: null, portal: null } }),
  'two processes of one role': caseOf({
    processes: { exports: { roles: ['api'], replicas: 1 }, deliveries: { roles: ['worker'] } },
  }),
  'a stopped worker': caseOf({ 'processes.worker.replicas': 0 }),
  'a single replica of each': caseOf({
    processes: { api: { replicas: 1 }, worker: { replicas: 1 }, widget: { replicas: 1 } },
  }),
  'an Ingress': caseOf(INGRESS),
  'an Ingress of the API with TLS': caseOf(
    merged(TRUST, {
      ingress: {
        enabled: true,
        annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' },
        tlsSecretName: 'tls',
        hosts: { api: 'api.example.com' },
      },
    }),
  ),
  'an Ingress of operators': caseOf(ADMIN_INGRESS),
  'without policies': caseOf({ 'networkPolicy.enabled': false }),
  'policies without anybody': caseOf({
    ...{ 'networkPolicy.ingressController': [], 'networkPolicy.monitoring': [] },
    'networkPolicy.egress': { chain: { to: [] }, public: { to: [] }, database: { to: [] }, dns: { to: [] } },
  }),
  'more egress': caseOf({
    'networkPolicy.egress.database.to': [{ podSelector: { matchLabels: { 'cnpg.io/cluster': 'db' } } }],
    'networkPolicy.egress.database.ports': [5432, 2113, 6379],
    'networkPolicy.egress.chain': { to: [namespaced('chain')], ports: [8545] },
    'networkPolicy.egress.more': [{ to: [namespaced('tracing')], ports: [{ protocol: 'TCP', port: 4318 }] }],
  }),
  'a secret of a store': caseOf(external({ extract: 'disburse/production' })),
  'variables of a store': caseOf(
    external({
      store: SECRET_STORE,
      refreshInterval: '10m',
      variables: {
        MASTER_KEY: { key: 'disburse/master', property: 'key' },
        DATABASE_URL: { key: 'disburse/database', property: 'url' },
        CHAIN_RPC_URL: { key: 'disburse/chain' },
      },
    }),
  ),
  'a secret of a store under a name': caseOf(external({ extract: 'disburse/production' }, 'from-the-store')),
  monitored: caseOf({
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, interval: '30s' },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  }),
  'without the Job': caseOf({ 'migration.enabled': false }),
  'spread over zones': caseOf({ spread: { nodes: 'DoNotSchedule', zones: 'DoNotSchedule' } }),
  'pods with everything': caseOf({
    settings: { NODE_EXTRA_CA_CERTS: '/etc/ca/ca.pem' },
    pod: {
      annotations: { 'example.com/team': 'payments' },
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
      tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'payments', effect: 'NoSchedule' }],
      priorityClassName: 'high',
      volumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      volumeMounts: [{ name: 'ca', mountPath: '/etc/ca', readOnly: true }],
    },
  }),
  'without resources': caseOf({
    'migration.resources': null,
    ...Object.fromEntries(ROLES.map((name) => [`processes.${name}.resources`, null])),
  }),
};
