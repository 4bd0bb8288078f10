import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Gauge } from 'prom-client';
import { eventually } from '../../../test/support/eventually.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { HealthRegistry } from './health.js';
import { measureOnScrape, measuring, registry, scrape, sharedMeasurement } from './metrics.js';

describe('a measurement that many callers share', () => {
  it('runs once for all calls during the run and shortly afterwards, and again for later calls', async () => {
    let [runs, finish] = [0, (): void => undefined];
    const measure = sharedMeasurement(async () => {
      runs += 1;
      await new Promise<void>((resolve) => (finish = resolve));
      return measuring.getStore();
    });
    const first = Array.from({ length: 960 }, () => measure());
    finish();
    expect(new Set(await Promise.all(first))).toEqual(new Set([true]));
    await Promise.all(Array.from({ length: 100 }, () => measure()));
    expect([runs, measuring.getStore()]).toEqual([1, undefined]);
    await eventually(() => {
      void measure();
      return runs === 2;
    });
    finish();
  });

  it('runs again after a failure', async () => {
    let runs = 0;
    const measure = sharedMeasurement(async () => {
      runs += 1;
      if (runs === 1) throw new Error('gone');
      return runs;
    });
    await expect(measure()).rejects.toThrow('gone');
    expect(await measure()).toBe(2);
  });
});

it('many readiness reports or scrapes at once need no database connection of the requests', async () => {
  const db = await testDatabase({ poolSize: 1 });
  const health = new HealthRegistry();
  let [checks, measured] = [0, 0];
  health.register({
    name: 'database',
    check: async () => {
      checks += 1;
      await db.database.requireWrites();
    },
  });
  const end = measureOnScrape(async () => {
    await db.database.ping();
    measured += 1;
  });
  try {
    // The connections of measurements exist: to connect may take longer than a check on a busy machine.
    await eventually(async () => (await health.report()).status === 'ok');
    await scrape();
    await sleep(600);
    [checks, measured] = [0, 0];
    // The only connection of the requests is in use until the reports are there.
    await db.database.transaction(async () => {
      const reports = await Promise.all(Array.from({ length: 1800 }, () => health.report()));
      expect(reports.map(({ status }) => status)).toEqual(reports.map(() => 'ok'));
      await Promise.all(Array.from({ length: 960 }, () => scrape()));
    });
    expect([checks, measured]).toEqual([1, 1]);
  } finally {
    end();
    await db.drop();
  }
});

it('a scrape contains the successful measurements while others hang or fail', async () => {
  const measured = new Gauge({ name: 'measured_by_spec', help: 'x', registers: [registry] });
  const endings = [
    measureOnScrape(() => new Promise<void>(() => undefined)),
    measureOnScrape(() => Promise.reject(new Error('gone'))),
    measureOnScrape(async () => measured.inc()),
  ];
  // A scrape of another suite is cached for half a second.
  await eventually(async () => (await scrape()).includes('measured_by_spec 1'));
  for (const end of endings) end();
  registry.removeSingleMetric('measured_by_spec');
  await eventually(async () => !(await scrape()).includes('measured_by_spec'));
});
