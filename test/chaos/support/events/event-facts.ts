import type pg from 'pg';
import type { EventBooks, StoredBatch, StoredEvent } from './event-books.js';
import type { SuiteOptions } from '../suite.js';
import type { EventsHarness } from './events-harness.js';

/** Counts the batches that are not processed, and those of them with a 202. */
export async function waiting(
  pool: pg.Pool,
  books: EventBooks,
): Promise<{ accepted: number; responded: number }> {
  const { rows } = await pool.query<{ body: Buffer }>(
    `select body from tracking.batches where state = 'accepted'`,
  );
  const responded = rows.filter(({ body }) => books.hasResponse(body.toString('utf8')));
  return { accepted: rows.length, responded: responded.length };
}

/** Returns whether every batch is processed and forwarded. */
export async function settled(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ left: boolean }>(
    `select exists (select from tracking.batches where state in ('accepted', 'processed')) as left`,
  );
  return !rows[0]!.left;
}

/** Every accepted event is stored once and was forwarded with its id; no other event is. */
export async function checkEvents(
  { shared: { pool }, forwarded, forwardRequests }: EventsHarness,
  books: EventBooks,
  { verdict, say }: SuiteOptions,
): Promise<void> {
  const events = await pool.query<StoredEvent>(
    'select merchant_id, event_id, event_name, payload from tracking.events',
  );
  const batches = await pool.query<StoredBatch>(
    'select merchant_id, state, body, new_items from tracking.batches',
  );
  verdict.none(
    batches.rows.filter(({ state }) => state !== 'forwarded'),
    'a batch is stuck',
  );
  verdict.none(books.faults(events.rows, batches.rows), 'the tables do not say what was sent');
  const stored = new Set(events.rows.map((each) => `${each.merchant_id} ${each.event_id}`));
  verdict.equal(stored.size, events.rows.length, 'distinct events');
  const accepted = books.acceptedIds();
  verdict.none(
    [...accepted].filter((key) => !stored.has(key)),
    'an accepted event is missing',
  );
  verdict.none(
    [...stored].filter((key) => !forwarded.has(key)),
    'an event was not forwarded',
  );
  verdict.none(
    [...forwarded.keys()].filter((key) => !stored.has(key)),
    'something was forwarded that is no event',
  );
  const again = [...forwarded.values()].reduce((sum, times) => sum + times - 1, 0);
  say(
    `books ${batches.rows.length} batches became ${stored.size} events; ${accepted.size} were accepted for certain`,
  );
  say(`      forwarded ${forwarded.size} in ${forwardRequests} requests, ${again} again`);
}
