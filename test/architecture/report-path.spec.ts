import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BackgroundModule } from '../../src/platform/background/background.module.js';
import { SubscriptionRunner } from '../../src/platform/projections/subscription-runner.js';
import { endSharedApp, onTestApp } from '../support/app.js';
import { createUser, report } from '../support/payouts/payout-calls.js';

/** How many files of src somebody has to open who follows one report. */
const MAX_FILES = 50;
/** A timer that remains, such as that of the pool, may fire during one report: the smallest count is that of a report alone. */
const TRIES = 3;

// The background work of this service is stopped, and no other service may run in the process.
beforeAll(endSharedApp);
const app = onTestApp();
const session = new Session();

beforeAll(async () => {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
afterAll(() => session.disconnect());

/** Files of src in which a function was called since the last time. */
async function calledFiles(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.includes('/src/'))
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges: [range] }) => functionName !== '' && (range?.count ?? 0) > 0),
    )
    .map(({ url }) => relative('src', fileURLToPath(url)));
}

it(`POST payouts/report runs through at most ${MAX_FILES} files`, async () => {
  const userId = await createUser(app.merchant);
  const send = async (): Promise<void> => expect((await report(app.merchant, userId)).status).toBe(201);
  await send();
  await app.app.get(BackgroundModule).beforeApplicationShutdown();
  await app.app.get(SubscriptionRunner).stop();
  await send();
  const counts: string[][] = [];
  while (counts.length < TRIES) {
    await calledFiles();
    await send();
    counts.push(await calledFiles());
  }
  const [files] = counts.toSorted((a, b) => a.length - b.length);
  expect(files).toContain('contexts/payouts/application/report-payout.ts');
  expect(files!.length).toBeLessThanOrEqual(MAX_FILES);
});
