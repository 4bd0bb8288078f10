import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BackgroundModule } from '../../src/platform/jobs/background.module.js';
import { SubscriptionRunner } from '../../src/platform/projections/subscription-runner.js';
import { endSharedApp, onTestApp } from '../support/app.js';
import { createUser, report } from '../support/payouts/payout-calls.js';

const MAX_FILES = 38;
/** The files of the request log's flush, which may run during every try on a busy machine. */
const FLUSH = ['contexts/access/requests/request-table.store.ts', 'platform/postgres/database.ts'];
/** Timers fire during some reports on a busy machine, so that one report without them suffices. */
const TRIES = 20;

// This stops the background work of the shared service. No other service may run in the process.
beforeAll(endSharedApp);
const app = onTestApp();
const session = new Session();

beforeAll(async () => {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
afterAll(() => session.disconnect());

/** Returns the files of src with a function that was called since the previous call. */
async function calledFiles(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.includes('/src/'))
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges: [range] }) => functionName !== '' && (range?.count ?? 0) > 0),
    )
    .map(({ url }) => relative('src', fileURLToPath(url)))
    .filter((file) => !FLUSH.includes(file));
}

it(`POST payouts/report runs through at most ${MAX_FILES} files`, async () => {
  const userId = await createUser(app.merchant);
  const filesOfOne = async (): Promise<string[]> => {
    await calledFiles();
    await send();
    return calledFiles();
  };
  const send = async (): Promise<void> => expect((await report(app.merchant, userId)).status).toBe(201);
  await send();
  await app.app.get(BackgroundModule).beforeApplicationShutdown();
  await app.app.get(SubscriptionRunner).stop();
  await send();
  let files = await filesOfOne();
  for (let n = 1; n < TRIES; n += 1) {
    const others = new Set(await filesOfOne());
    files = files.filter((file) => others.has(file));
  }
  expect(files).toContain('contexts/payouts/payouts/payouts.commands.ts');
  expect(files.length > MAX_FILES ? files : []).toEqual([]);
});
