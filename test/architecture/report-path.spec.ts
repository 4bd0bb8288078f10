import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BackgroundModule } from '../../src/platform/jobs/background.module.js';
import { SubscriptionRunner } from '../../src/platform/projections/subscription-runner.js';
import { endSharedApp, onTestApp } from '../support/app.js';
import { createUser, report } from '../support/payouts/payout-calls.js';

/** The files of src on the path of one report. */
const MAX_FILES = 38;
/** The files of the request log's flush, which on a busy machine comes during every try. */
const FLUSH = ['contexts/access/requests/request-table.store.ts', 'platform/postgres/database.ts'];
/** On a busy machine timers fire during some reports, so that one report with its own files alone is enough. */
const TRIES = 20;

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

/** Files of src with a function that was called since the last call of this. */
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
