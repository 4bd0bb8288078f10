import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BackgroundModule } from '../../src/platform/background/background.module.js';
import { SubscriptionRunner } from '../../src/platform/projections/subscription-runner.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, report } from '../support/payouts/payout-calls.js';

/** How many files of src somebody has to open who follows one report. */
const MAX_FILES = 50;
const REPORTS = 40;
/** On a busy machine a timer may be in each of the first ones. */
const MAX_REPORTS = 400;

describe('POST payouts/report', () => {
  let app: TestApp;
  const session = new Session();

  beforeAll(async () => {
    app = await startTestApp();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  });
  afterAll(async () => {
    session.disconnect();
    await app.close();
  });

  /** Files of src in which a function was called since the last time. */
  const called = async (): Promise<Set<string>> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return new Set(
      result
        .filter(({ url }) => url.includes('/src/'))
        .filter(({ functions }) =>
          functions.some(
            ({ functionName, ranges: [range] }) => functionName !== '' && (range?.count ?? 0) > 0,
          ),
        )
        .map(({ url }) => relative('src', fileURLToPath(url))),
    );
  };

  it(`runs through at most ${MAX_FILES} files`, async () => {
    const userId = await createUser(app.merchant);
    expect((await report(app.merchant, userId)).status).toBe(201);
    await app.app.get(BackgroundModule).beforeApplicationShutdown();
    await app.app.get(SubscriptionRunner).stop();
    let everyTime: string[] | null = null;
    const isEnough = (n: number): boolean =>
      n >= MAX_REPORTS || (n >= REPORTS && everyTime!.length <= MAX_FILES);
    for (let n = 0; !isEnough(n); n += 1) {
      await called();
      expect((await report(app.merchant, userId)).status).toBe(201);
      // Timers of the background are not in each of them.
      const files = await called();
      everyTime = (everyTime ?? [...files]).filter((file) => files.has(file));
    }
    expect(everyTime).toContain('contexts/payouts/application/report-payout.ts');
    expect(everyTime?.length).toBeLessThanOrEqual(MAX_FILES);
  });
});
