import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EventBooks } from '../support/tracking/event-books.js';
import { EventStage } from '../support/tracking/event-stage.js';
import { eventually } from '../support/eventually.js';

const ROUNDS = 3;
const CLIENTS = 6;
const ITEMS = 200;
/** Without a backlog a process only finishes transactions in flight. */
const STOPS_WITHIN_MS = 15_000;

let stage: EventStage;

beforeAll(async () => {
  stage = await EventStage.open();
});
afterAll(() => stage.close());

test('processes that are stopped with batches in flight end soon, and lose and repeat nothing', async () => {
  const merchants = await Promise.all([stage.newMerchant(), stage.newMerchant()]);
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
        await stage.send(books.batch(who.apiKey, ids), who, { key: randomUUID(), retries: true });
      }
    });
    const processed = (await stage.events(names)).length;
    await eventually(async () => (await stage.events(names)).length > processed);
    const slowest = await stage.stopAll();
    stopping = true;
    expect(slowest).toBeLessThan(STOPS_WITHIN_MS);
    await stage.reviveAll();
    await Promise.all(clients);
  }
  await stage.settle(names, ['processed', 'forwarded']);
  expect(books.sent.length).toBeGreaterThan(ROUNDS * CLIENTS);
  expect(books.sent.every(({ respondedAt }) => respondedAt !== null)).toBe(true);
  expect(books.faults(await stage.events(names), await stage.batches(names))).toEqual([]);
});
