import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ForwardingStore } from '../../../src/contexts/tracking/forwarding/forwarding.store.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { scrape } from '../../../src/platform/telemetry/metrics.js';
import type { Fault } from '../../support/exchange/provider-server.js';
import { AnalyticsProvider } from './analytics-provider.js';
import { ForwardingHarness, idsOf, item, items, type TestItem } from './forwarding-harness.js';
import { onTestDatabase } from '../../support/postgres.js';
import { specFolder } from '../../support/run-folder.js';
import { freshReport } from '../../support/fresh-report.js';
import { eventually } from '../../support/eventually.js';
import { telemetryConfig } from '../../../src/platform/config/config.js';

const db = onTestDatabase();
let provider: AnalyticsProvider;
let harness: ForwardingHarness;
const logFile = join(specFolder('log'), 'forwarding.log');
Logger.overrideLogger(false);
const log = Log.open(telemetryConfig({ LOG_FILE: logFile }));

afterAll(() => log.onApplicationShutdown());
beforeEach(async () => {
  provider = await AnalyticsProvider.start();
  harness = new ForwardingHarness(db.database, provider.url, log);
  await harness.clear();
});
afterEach(async () => {
  await harness.stop();
  await provider.shutDown();
});

const failures = async (): Promise<number> => (await harness.provider())[0]!.failures;
const logged = (): string => {
  log.flush();
  return readFileSync(logFile, 'utf8');
};

describe('while the provider', () => {
  const faults: readonly (readonly [string, Fault, string])[] = [
    ['returns 500', { status: 500, body: '' }, 'failing'],
    ['never responds', 'hang', 'timeout'],
    ['closes connections', 'reset', 'unreachable'],
    ['redirects', { status: 302, body: '', headers: { location: '/elsewhere' } }, 'misconfigured'],
  ];
  it.each(faults)('%s, events wait and are accepted afterwards', async (_, fault, cause) => {
    const events = items(4);
    provider.always = fault;
    await harness.processed(events.slice(0, 2));
    await harness.processed(events.slice(2));
    // Only a hanging provider times out, because others may be as slow on a busy machine.
    harness.start(harness.amplitude(fault === 'hang' ? { timeoutMs: 100 } : {}));
    await eventually(async () => ((await failures()) >= 2 ? true : null));
    expect(await harness.provider()).toMatchObject([{ cause }]);
    expect(provider.accepted.size).toBe(0);
    provider.recover();
    await harness.drained();
    expect(provider.ids).toEqual(idsOf(events));
    expect(await harness.refused()).toEqual([]);
    await eventually(async () => (await failures()) === 0);
    expect(await harness.provider()).toMatchObject([{ cause: null }]);
  });

  it('refuses the API key, no event counts as refused and the log has an error for operators', async () => {
    const events = items(3);
    await harness.processed(events);
    const first = harness.start(harness.amplitude({ apiKey: 'a-wrong-key' }));
    await eventually(async () => ((await failures()) >= 2 ? true : null));
    expect(await harness.provider()).toMatchObject([{ cause: 'unauthorized' }]);
    const entry = /"level":"error".*"cause":"unauthorized".*analytics provider unavailable/;
    await eventually(() => entry.test(logged()));
    expect(logged()).not.toMatch(/a-wrong-key|customer-/);
    await first.stop();
    harness.start();
    await harness.drained();
    expect(provider.ids).toEqual(idsOf(events));
    expect(await harness.refused()).toEqual([]);
  });

  it('requests a pause of 600 s, the pause survives a restart', async () => {
    await harness.processed(items(2));
    provider.always = { status: 503, body: '', headers: { 'retry-after': '600' } };
    const first = harness.start();
    await eventually(async () => ((await failures()) === 1 ? true : null));
    await first.stop();
    harness.start();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(provider.requests.length).toBe(1);
    const [row] = await db.database.query<{ left: number }>(
      "select extract(epoch from due_at - now())::float8 as left from work.items where kind = 'tracking.forwarding'",
    );
    expect(row!.left).toBeGreaterThan(500);
  });

  it('is unavailable for long, each retry sends one batch despite a backlog of 2,000 events', async () => {
    const backlog: TestItem[] = [];
    for (let batch = 0; batch < 100; batch += 1) {
      const events = items(20);
      backlog.push(...events);
      await harness.processed(events);
    }
    provider.failsOver = 'insert_id';
    const times = { unavailable: { firstMs: 20, maxMs: 50 }, blamed: { firstMs: 20, maxMs: 50 } };
    const first = harness.start(undefined, times);
    harness.start(undefined, times);
    await eventually(async () => ((await failures()) >= 6 ? true : null));
    await first.stop();
    await eventually(async () => ((await failures()) >= 12 ? true : null));
    const { length: requests } = provider.requests;
    expect(requests).toBeLessThan((await failures()) + 8);
    // Each retry has one batch, also after a takeover.
    const sizes = provider.bodies.map((body) => body.split('insert_id').length - 1);
    expect(Math.max(...sizes.slice(1))).toBe(20);
    provider.recover();
    await harness.drained();
    expect(provider.ids).toEqual(idsOf(backlog));
  });

  it('fails because of one batch, all other batches are forwarded', async () => {
    const poison = item();
    const others = items(60);
    provider.failsOver = poison.event_id;
    await harness.processed([poison]);
    for (const each of others) await harness.processed([each]);
    harness.start();
    await eventually(() => (provider.accepted.size === 60 ? true : null));
    expect(provider.ids).toEqual(idsOf(others));
    provider.recover();
    await harness.drained();
    expect(provider.accepted.size).toBe(61);
  });
});

it('a batch with an unreadable body waits with its error and delays no other batch', async () => {
  const broken = await harness.processed(items(1));
  await db.database.query(`update tracking.batches set body = 'nonsense' where batch_id = $1`, [broken]);
  const events = items(2);
  await harness.processed(events);
  harness.start();
  await eventually(() => (provider.accepted.size === 2 ? true : null));
  // The error is recorded at the end of the round.
  const sql = `select from tracking.batches where batch_id = $1 and error = 'the body cannot be read for forwarding'`;
  await eventually(async () => (await db.database.query(sql, [broken])).length === 1);
});

it('the backlog and the state of the provider are metrics', async () => {
  provider.always = { status: 401, body: '' };
  await harness.processed(items(5), (index) => index < 3);
  const { forwarder } = harness.start();
  forwarder.onApplicationBootstrap();
  await eventually(async () => ((await failures()) > 0 ? true : null));
  // Other services of this worker measure the same gauge.
  const text = await eventually(async () => {
    const scraped = await freshReport(scrape);
    return scraped.includes('disburse_analytics_backlog_events 3') && scraped;
  });
  expect(text).toMatch(/disburse_analytics_backlog_age_seconds [0-9.]+/);
  expect(text).toMatch(/disburse_analytics_unavailable\{cause="unauthorized"\} \d+/);
  expect(text).toMatch(/disburse_analytics_requests_total\{outcome="unauthorized"\} \d+/);
});

it('forwarding counts as due work only while a batch waits and its next attempt is due', async () => {
  const due = () => new ForwardingStore(db.database).dueBacklog();
  const none = { name: 'tracking.forwarding', due: 0, oldest_at: null };
  await db.database.query(`update work.items set due_at = now() - interval '1 day'`);
  expect(await due()).toEqual(none);
  await harness.processed(items(2));
  const { oldest_at: oldest, ...waiting } = await due();
  expect(waiting).toEqual({ name: 'tracking.forwarding', due: 1 });
  expect(Date.now() - Date.parse(oldest!)).toBeLessThan(3_600_000);
  await db.database.query(`update work.items set due_at = now() + interval '1 minute'`);
  expect(await due()).toEqual(none);
});

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>('reset', 'done, then reset', 'hang', 'done, then hang'),
  fc.constantFrom(200, 401, 404, 408, 429, 500, 502, 503, 504).map((status) => ({ status, body: '<html>' })),
  fc.constant({ status: 429, body: '{"throttled_events":[0,2,99,-1,"x"]}' }),
);

it('after any sequence of failures the provider has all new events except those that it refuses', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom('new', 'seen', 'refused'), { minLength: 1, maxLength: 30 }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.array(fault, { maxLength: 12 }),
      fc.nat(3),
      async (batches, faults, restarts) => {
        await harness.clear();
        provider.accepted.clear();
        provider.faults = [...faults];
        const fates = new Map<string, string>();
        provider.invalidField = ({ insert_id }) => (fates.get(insert_id!) === 'refused' ? 'time' : null);
        for (const batch of batches) {
          const events = items(batch.length);
          events.forEach(({ event_id }, index) => fates.set(event_id, batch[index]!));
          await harness.processed(events, (index) => batch[index] !== 'seen');
        }
        const analytics = () => harness.amplitude({ timeoutMs: 40 });
        for (let restart = 0; restart < restarts; restart += 1) {
          const stopped = harness.start(analytics());
          await new Promise((resolve) => setTimeout(resolve, 5));
          await stopped.stop();
        }
        const last = harness.start(analytics());
        await harness.drained();
        await last.stop();
        const fated = (expected: string): string[] =>
          [...fates].flatMap(([id, fate]) => (fate === expected ? [id] : [])).sort();
        expect(provider.ids).toEqual(fated('new'));
        expect((await harness.refused()).map(({ event_id }) => event_id)).toEqual(fated('refused'));
      },
    ),
    { numRuns: Number(process.env['FORWARDING_RUNS'] ?? 15) },
  );
});
