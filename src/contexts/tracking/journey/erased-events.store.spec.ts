import { beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { batchOf, eventItem } from '../../../../test/support/tracking/event-batches.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { bodyWithout } from '../batches/batch-items.store.js';
import { ErasedEvents } from './erased-events.store.js';

const MERCHANT = randomUUID();
const ITEMS = ['ada', 'ada', 'grace', 'ada'].map((user_external_id) => eventItem({ user_external_id }));

const db = onTestDatabase();
let events: ErasedEvents;

beforeAll(() => {
  events = new ErasedEvents(db.database);
});

/** A batch of which all items but the last were new, and the first was forwarded. */
async function batch(state: string): Promise<string> {
  const id = randomUUID();
  await db.database.query(
    `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body, state, new_items, forward_done)
     values ($1, $2, now(), 4, $3, $4, '\\xe0', '\\x80')`,
    [id, MERCHANT, Buffer.from(batchOf(ITEMS)), state],
  );
  return id;
}

async function rowOf(id: string): Promise<{ new_items: Buffer; body: Buffer }> {
  const rows = await db.database.query<{ new_items: Buffer; body: Buffer }>(
    'select new_items, body from tracking.batches where batch_id = $1',
    [id],
  );
  return rows[0]!;
}

it('pending events of an erased person are not forwarded, but pending events of others are', async () => {
  const waiting = await batch('processed');
  await events.rewrite(waiting, 'ada');
  const { new_items, body } = await rowOf(waiting);
  // The first was forwarded and stays counted so; the second was not; the third is somebody else's.
  expect(new_items.toString('hex')).toBe('a0');
  expect(bodyWithout(body, 'ada')).toBeNull();
});

it('an unprocessed batch remains unchanged, and later erasures wait for its processing', async () => {
  const accepted = await batch('accepted');
  await events.rewrite(accepted, 'ada');
  expect((await rowOf(accepted)).body.toString()).toBe(batchOf(ITEMS));
  const [, later, earlier] = [0, 60_000, -60_000].map((ms) => new Date(Date.now() + ms).toISOString());
  expect(await events.isBehind(MERCHANT, later!)).toBe(true);
  expect(await events.isBehind(MERCHANT, earlier!)).toBe(false);
});

it('two persons who are erased from one batch at the same time are both removed', async () => {
  const shared = await batch('forwarded');
  await Promise.all(['ada', 'grace'].map((name) => events.rewrite(shared, name)));
  const text = (await rowOf(shared)).body.toString();
  // Quoted: an id may have the letters too.
  for (const name of ['ada', 'grace']) expect(text).not.toContain(`"${name}"`);
});
