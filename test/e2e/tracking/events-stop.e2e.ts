import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EventBooks } from '../../support/tracking/event-books.js';
import { EventHarness } from '../../support/tracking/event-harness.js';
import { eventually } from '../../support/eventually.js';

const ROUNDS = 3;
const CLIENTS = 6;
const ITEMS = 200;
/** Without a backlog a process only finishes transactions in flight. */
const STOPS_WITHIN_MS = 15_000;

let harness: EventHarness;

beforeAll(async () => {
  harness = await EventHarness.open();
});
afterAll(() => harness.close());

test('processes that are stopped with batches in flight end soon, and lose and repeat nothing', async () => {
  const merchants = await Promise.all([harness.newMerchant(), harness.newMerchant()]);
  const names = merchants.map(({ apiKey }) => apiKey);
  const books = new EventBooks();
  for (let round = 0; round < ROUNDS; round += 1) {
    let stopping = false;
    const clients = Array.from({ length: CLIENTS }, async (_, number) => {
      const who = merchants[number % merchants.length]!;
      while (!stopping) {
        // Half of them are those of another batch.
        const shared = books.sent.findLast((batch) => batch.merchantId === who.apiKey)?.ids ?? [];
        const ids = [...shared.slice(-ITEMS / 2), ...Array.from({ length: ITEMS / 2 }, () => randomUUID())];
        await harness.send(books.batch(who.apiKey, ids), who, { key: randomUUID(), retries: true });
      }
    });
    const processed = (await harness.events(names)).length;
    await eventually(async () => (await harness.events(names)).length > processed);
    const slowest = await harness.stopAll();
    stopping = true;
    expect(slowest).toBeLessThan(STOPS_WITHIN_MS);
    await harness.reviveAll();
    await Promise.all(clients);
  }
  await harness.settle(names, ['processed', 'forwarded']);
  expect(books.sent.length).toBeGreaterThan(ROUNDS * CLIENTS);
  expect(books.sent.every(({ respondedAt }) => respondedAt !== null)).toBe(true);
  expect(books.faults(await harness.events(names), await harness.batches(names))).toEqual([]);
});
