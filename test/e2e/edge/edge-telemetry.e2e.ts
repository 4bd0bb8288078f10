import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { EventStoreUnavailable } from '../../../src/platform/event-store/port.js';
import { BUSY, Refusal } from '../../../src/platform/http/problem.js';
import { HealthRegistry } from '../../../src/platform/telemetry/health.js';
import { MetricsServer } from '../../../src/platform/http/metrics-server.js';
import { registry } from '../../../src/platform/telemetry/metrics.js';
import { eventually } from '../../support/eventually.js';
import { onEdgeApp, startEdgeApp } from '../../support/http/edge-app.js';
import { testDatabase } from '../../support/postgres.js';
import { specFolder } from '../../support/run-folder.js';
import { send } from '../../support/http/signed-client.js';

const logFile = join(specFolder('edge-log'), 'service.log');
const edge = onEdgeApp({ LOG_LEVEL: 'info', LOG_FILE: logFile });

/** Waits for `count` lines of a request. */
async function linesOf(requestId: string | undefined, count = 1): Promise<Record<string, unknown>[]> {
  return eventually(async () => {
    edge.log.flush();
    const text = await readFile(logFile, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line.endsWith('}'));
    const found = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['request_id'] === requestId);
    return found.length >= count && found;
  });
}

test('each request is logged as one line without its body, its signature and its key', async () => {
  const client = edge.client();
  const body = { phone_number: '+14155550100', email: 'ada@example.com' };
  const response = await client.post(
    '/merchants/v1/probe/plain?email=ada@example.com',
    body,
    'b3a0e6a4-0d5a-4d7c-8f0e-6f2a1c9d1e11',
  );
  const lines = await linesOf(response.headers['request-id']);
  expect(lines).toEqual([
    {
      level: 'info',
      time: expect.any(String),
      pid: process.pid,
      msg: 'request',
      request_id: response.headers['request-id'],
      method: 'POST',
      route: '/merchants/v1/probe/plain',
      status: 201,
      duration_ms: expect.any(Number),
      merchant_id: client.credentials.apiKey,
      idempotency: 'fresh',
      bytes_in: Buffer.byteLength(JSON.stringify(body)),
      bytes_out: Buffer.byteLength(response.text),
    },
  ]);
});

test('an internal failure gets 500 and is logged with its stack', async () => {
  const response = await edge.client().post('/merchants/v1/probe/commit', { fail: 'unexpected' });
  expect(response.status).toBe(500);
  const lines = await linesOf(response.headers['request-id'], 2);
  expect(lines.map(({ msg }) => msg)).toEqual(['request', 'request failed']);
  expect(lines[1]).toMatchObject({
    level: 'error',
    err: { type: 'Error', stack: expect.stringContaining('edge-app') },
  });
});

test.each([
  ['is not up to date', new DomainError('unavailable', 'not up to date'), 'not up to date'],
  ['has no database', Object.assign(new Error('at 10.0.0.7'), { code: 'ECONNREFUSED' }), 'at 10.0.0.7'],
  ['has no event store', new EventStoreUnavailable('no leader'), 'no leader'],
  ['has no memory for a body', new Refusal(BUSY), BUSY.detail],
])(
  'an expected 503 of a service that %s has a Retry-After and is logged without a stack',
  async (_, error, reason) => {
    const { merchants } = edge;
    const client = edge.client();
    const get = merchants.get.bind(merchants);
    merchants.get = () => {
      throw error;
    };
    const response = await client.get('/merchants/v1/probe/whoami').finally(() => {
      merchants.get = get;
    });
    expect([response.status, response.headers['retry-after']]).toEqual([503, '1']);
    expect(response.text).not.toContain('10.0.0.7');
    const [, line] = await linesOf(response.headers['request-id'], 2);
    expect(line).toMatchObject({ level: 'warn', msg: 'request refused', reason });
    expect(JSON.stringify(line)).not.toContain('stack');
  },
);

test('GET /metrics, on a separate port, counts requests by route and not by path', async () => {
  // Suites of one worker share the registry.
  registry.resetMetrics();
  const client = edge.client();
  await client.get('/merchants/v1/probe/things/7c0c3f2e-6f0a-4a39-9f55-3b6b3f8a1b11');
  await send(`${edge.url}/invented-${Date.now()}`);
  const server = edge.app.get(MetricsServer);
  const port = await server.listen(0, '127.0.0.1');
  const metrics = await send(`http://127.0.0.1:${port}/metrics`);
  expect(metrics.headers['content-type']).toContain('text/plain');
  expect(metrics.text).toMatch(
    /^disburse_http_requests_total\{route="\/merchants\/v1\/probe\/things\/:id",method="GET",status="200"\} \d+$/m,
  );
  expect(metrics.text).toMatch(
    /^disburse_http_requests_total\{route="unknown",method="GET",status="404"\} \d+$/m,
  );
  expect(metrics.text).not.toContain('invented');
  expect((await send(`${edge.url}/metrics`)).status).toBe(404);
  expect((await send(`http://127.0.0.1:${port}/other`)).status).toBe(404);
  await server.onApplicationShutdown();
});

test('the readiness check reports each dependency within its time limit', async () => {
  const ready = await send(`${edge.url}/health/ready`);
  expect([ready.status, ready.json()]).toEqual([
    200,
    { status: 'ok', checks: { database: { status: 'ok' }, event_store: { status: 'ok' } } },
  ]);
  const registry = new HealthRegistry();
  registry.register({ name: 'good', check: async () => undefined });
  registry.register({ name: 'bad', check: () => Promise.reject(new Error('password wrong for 10.0.0.7')) });
  registry.register({
    name: 'thrown',
    check: () => {
      throw new Error('at once');
    },
  });
  registry.register({ name: 'hanging', check: () => new Promise(() => undefined) });
  const report = await registry.report();
  expect(report.status).toBe('unavailable');
  expect(report.checks['good']).toEqual({ status: 'ok' });
  for (const name of ['bad', 'thrown', 'hanging']) expect(report.checks[name]?.status).toBe('unavailable');
  expect(JSON.stringify(report)).not.toContain('10.0.0.7');
});

/** Retries, because a report is cached for half a second. */
const unready = (url: string): Promise<Awaited<ReturnType<typeof send>>> =>
  eventually(async () => {
    const ready = await send(`${url}/health/ready`);
    return ready.status === 503 ? ready : null;
  });

test('the readiness check is 503 while the database is unavailable, and the liveness check is not', async () => {
  const gone = await testDatabase();
  const app = await startEdgeApp(gone.database);
  expect((await send(`${app.url}/health/ready`)).status).toBe(200);
  await gone.drop();
  const ready = await unready(app.url);
  expect(ready.json()).toMatchObject({
    status: 'unavailable',
    checks: { database: { status: 'unavailable' } },
  });
  expect((await send(`${app.url}/health/live`)).json()).toEqual({ status: 'ok' });
  await app.close();
});

test('the readiness check is 503 while the database accepts no writes, like a standby', async () => {
  const standby = await testDatabase({ poolSize: 1 });
  const app = await startEdgeApp(standby.database);
  expect((await send(`${app.url}/health/ready`)).status).toBe(200);
  // The setting applies to open sessions too.
  await standby.database.query(`do $$ begin
    execute format('alter database %I set default_transaction_read_only = on', current_database());
    perform pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid();
  end $$`);
  expect((await unready(app.url)).json()).toMatchObject({ checks: { database: { status: 'unavailable' } } });
  await app.close();
  await standby.drop();
});
