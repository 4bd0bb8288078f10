import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it, test } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { CredentialIndex } from '../../../src/contexts/access/credentials/credentials.view.js';
import { LastVerifies } from '../../../src/contexts/audit/verify/last-verify.store.js';
import { SystemStatus } from '../../../src/contexts/operations/system/system-status.service.js';
import { registry } from '../../../src/platform/telemetry/metrics.js';
import { freePort } from '../../../sandbox/processes.js';
import { testApp, startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { freshReport } from '../../support/fresh-report.js';
import { createPayee, reported } from '../../support/payouts/payout-calls.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { startCollector, type Span } from '../../support/programs/otlp-collector.js';

const PAGE = 'docs/metrics.md';
const HEADING = '## Metrics\n';
const HEALTHY = ['database', 'event_store', 'queue', 'chain', 'clock', 'views', 'subscriptions', 'ledger'];

const METRICS_PORT = String(await freePort());
// A separate service, because of its port of metrics, and because its node is stopped.
const app = await testApp({ METRICS_PORT });

const scraped = async (): Promise<Exposed> =>
  exposedBy(await (await freshReport(() => fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`))).text());

/** Labels of any metric. Prometheus adds the first two, recordings and alerts the others. */
const ADDED = ['instance', 'job', 'le', 'slo', 'alertname', 'severity', 'alertstate'];

const labelsOf = (name: string): readonly string[] =>
  (registry.getSingleMetric(name) as unknown as { labelNames?: string[] }).labelNames ?? [];

function expressionsIn(text: string): readonly string[] {
  return [...text.matchAll(/expr: (?:\|\n((?: {10}.*\n)+)|(.*))|"expr": (".*")/g)].map(
    ([, block, line, json]) => block ?? line ?? (JSON.parse(json!) as string),
  );
}

/** Returns metrics that are not exposed, and labels that they lack. */
function unknownIn(expression: string, labels: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const used = [...expression.matchAll(/\b((?:disburse|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name, matchers = '']) => ({
      name: labels.has(name!) ? name! : name!.replace(/_(bucket|count|sum)$/, ''),
      matched: [...matchers.matchAll(/(\w+)(?:=~|!=|!~|=)/g)].map(([, label]) => label!),
    }),
  );
  const known = new Set([...ADDED, ...used.flatMap(({ name }) => labels.get(name) ?? [])]);
  const grouped = [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list]) =>
    list!.split(/, ?/),
  );
  return [
    ...used.filter(({ name }) => !labels.has(name)).map(({ name }) => name),
    ...used.flatMap(({ name, matched }) =>
      matched
        .filter((label) => ![...ADDED, ...(labels.get(name) ?? [])].includes(label))
        .map((label) => `${name} ${label}`),
    ),
    ...grouped.filter((label) => label !== '' && !known.has(label)).map((label) => `${expression}: ${label}`),
  ];
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

it('docs/metrics.md lists every metric that a scraped service exposes, with its type and labels', async () => {
  const { metrics, samples } = await scraped();
  const rows = metrics.map(({ name, type, help }) => {
    const labelNames = labelsOf(name);
    const exposed = new Set(samples.filter((each) => each.metric === name).flatMap(({ labels }) => labels));
    // Buckets and quantiles have additional labels.
    for (const own of ['le', 'quantile']) exposed.delete(own);
    expect([name, [...exposed].filter((label) => !labelNames.includes(label))]).toEqual([name, []]);
    return `| \`${name}\` | ${type} | ${labelNames.map((each) => `\`${each}\``).join(', ')} | ${cell(help)} |`;
  });
  const isOwn = (row: string): boolean => row.includes('`disburse_');
  const table = (of: readonly string[]): string =>
    ['| Name | Type | Labels | |', '|---|---|---|---|', ...of.toSorted(), ''].join('\n');
  const committed = readFileSync(PAGE, 'utf8');
  const [introduction] = committed.split(HEADING);
  const page = [
    `${introduction}${HEADING}`,
    table(rows.filter(isOwn)),
    'Of Node.js and its process:\n',
    table(rows.filter((row) => !isOwn(row))),
  ].join('\n');
  writeFileSync(PAGE, page);
  expect(committed).toBe(page);
});

it('rules and dashboards query only metrics and labels that a scraped service exposes', async () => {
  const { metrics } = await scraped();
  const labels = new Map(metrics.map(({ name }) => [name, labelsOf(name)]));
  const texts = [
    'deploy/prometheus/rules.yaml',
    ...readdirSync('deploy/grafana').map((name) => `deploy/grafana/${name}`),
  ];
  const expressions = texts.flatMap((file) => expressionsIn(readFileSync(file, 'utf8')));
  expect(expressions.length).toBeGreaterThan(100);
  expect(expressions.flatMap((each) => unknownIn(each, labels))).toEqual([]);
  expect(unknownIn('rate(disburse_lost_total[5m])', labels)).toEqual(['disburse_lost_total']);
  expect(unknownIn('disburse_pending_payouts{merchant="a"}', labels)).toEqual([
    'disburse_pending_payouts merchant',
  ]);
  expect(unknownIn('sum by (shop) (disburse_health_check)', labels)).toEqual([
    'sum by (shop) (disburse_health_check): shop',
  ]);
});

it('each readiness check is a metric', async () => {
  const exposed = await scraped();
  for (const check of HEALTHY)
    expect([check, valueOf(exposed, 'disburse_health_check', { check })]).toEqual([check, 1]);
});

it('the time from a payout to its outcome and to its webhook is measured', async () => {
  const receiver = await TestReceiver.start();
  const { merchant, chain } = app;
  const webhook_endpoint = { url: receiver.url, event_types: ['payout.received'] };
  expect((await merchant.post('/merchants/v1/webhook_endpoints', { webhook_endpoint })).status).toBe(201);
  const payee = await createPayee(merchant);
  const before = await scraped();
  const { hash } = await chain.transfer(payee.wallet, '1');
  await reported(merchant, payee.id, { transaction_hash: hash });
  await eventually(async () => receiver.received.length === 1);
  const growth = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
    valueOf(await scraped(), name, labels) - valueOf(before, name, labels);
  await eventually(async () => (await growth('disburse_webhook_first_attempt_delay_seconds_count')) === 1);
  for (const [name, le] of [
    ['disburse_payout_verification_delay_seconds', '300'],
    ['disburse_webhook_first_attempt_delay_seconds', '300'],
  ] as const)
    expect([name, await growth(`${name}_count`), await growth(`${name}_bucket`, { le })]).toEqual([
      name,
      1,
      1,
    ]);
  const reports = { route: '/merchants/v1/payouts/report', method: 'POST', status: '201' };
  expect(await growth('disburse_http_requests_total', reports)).toBe(1);
  const waits = await growth('disburse_read_waits_total', { outcome: 'current' });
  expect((await merchant.get('/merchants/v1/payouts')).status).toBe(200);
  expect(await growth('disburse_read_waits_total', { outcome: 'current' })).toBe(waits + 1);
  await receiver.stop();
});

it('due work, nodes, expiring keys and the last verification are measured for operators', async () => {
  const gauges = [CredentialIndex, LastVerifies, SystemStatus].map((each) =>
    app.app.get(each, { strict: false }),
  );
  const measured = (name: string, labels: Record<string, string>, value: number): Promise<unknown> =>
    eventually(async () => {
      for (const gauge of gauges) await gauge.measure();
      const found = (await scraped()).samples.filter((each) => each.name === name);
      return valueOf({ metrics: [], samples: found }, name, labels) === value && found.length > 0;
    });
  const expiresAt = new Date(Date.now() + 86_400_000);
  await app.newAdmin({ expiresAt: expiresAt.toISOString() });
  await measured(
    'disburse_credential_expiry_timestamp_seconds',
    { kind: 'admin' },
    expiresAt.getTime() / 1000,
  );
  await app.database.query(`insert into audit.last_verify (at, outcome) values ($1, 'wrong')`, [expiresAt]);
  const outcome = { outcome: 'wrong' };
  await measured('disburse_audit_verify_timestamp_seconds', outcome, expiresAt.getTime() / 1000);
  await measured('disburse_due_work_oldest_seconds', { work: 'webhooks.deliveries' }, 0);
  const node = { node: '1', host: new URL(app.config.chainRpcUrl!).host };
  await measured('disburse_chain_node_up', node, 1);
  await app.chain.stop();
  await measured('disburse_chain_node_up', node, 0);
  await measured('disburse_health_check', { check: 'chain' }, 0);
});

/** One sample of a scrape. `metric` is the name without the suffixes of histograms and summaries. */
interface Sample {
  readonly name: string;
  readonly metric: string;
  readonly labels: readonly string[];
  readonly pairs: string;
  readonly value: number;
}

interface Exposed {
  readonly metrics: readonly { readonly name: string; readonly type: string; readonly help: string }[];
  readonly samples: readonly Sample[];
}

function exposedBy(text: string): Exposed {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  const metrics = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => ({
    name: name!,
    type: types.get(name!) ?? '',
    help: help!,
  }));
  const samples = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gim)].map(
    ([, name, pairs = '', value]) => ({
      name: name!,
      metric: types.has(name!) ? name! : name!.replace(/_(bucket|count|sum)$/, ''),
      labels: [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => label!),
      pairs,
      value: Number(value),
    }),
  );
  return { metrics, samples };
}

/** Adds up the samples with these labels; 0 without one. */
function valueOf({ samples }: Exposed, name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((each) => each.name === name)
    .filter(({ pairs }) =>
      Object.entries(labels).every(([label, value]) => pairs.includes(`${label}="${value}"`)),
    )
    .reduce((sum, { value }) => sum + value, 0);
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';

test('with a trace collector, a request, its command and its commit are spans in the trace of the client', async () => {
  const spans: Span[] = [];
  let cause: unknown;
  const server = await startCollector(spans);
  const { port } = server.address() as AddressInfo;
  const app = await startTestApp({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  try {
    const body = { phone_number: '+15550001111' };
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    const response = await app.merchant.call({ method: 'POST', path: '/merchants/v1/users', body, headers });
    expect(response.status).toBe(201);
    [cause] = await app.database.query(
      `select metadata::json->>'traceparent' as traceparent from event_store.events where type = 'user.created.v1'`,
    );
  } finally {
    await app.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  const request = spans.find(({ name }) => name === 'POST /merchants/v1/users');
  const command = spans.find(
    ({ name, parentSpanId }) => name === 'command' && parentSpanId === request?.spanId,
  );
  const commit = spans.find(
    ({ name, parentSpanId }) => name === 'event_store.commit' && parentSpanId === command?.spanId,
  );
  expect(request).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' });
  expect(commit?.traceId).toBe(TRACE);
  expect(cause).toEqual({ traceparent: expect.stringContaining(`00-${TRACE}-`) });
  expect(spans.some(({ name }) => name === 'subscription.batch')).toBe(true);
});
