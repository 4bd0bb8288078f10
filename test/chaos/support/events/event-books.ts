import type pg from 'pg';
import { count } from '../../../../bench/support/count.js';
import type { SuiteOptions } from '../suite.js';
import type { EventsHarness } from './events-harness.js';

/** A batch in the records of a merchant's client, over all its repeats. */
export interface SentBatch {
  readonly merchantId: string;
  readonly body: string;
  /** The lower-cased ids of the items, in order. */
  readonly ids: readonly string[];
  /** The times of the first attempt and the first 202, in milliseconds of one clock. */
  beganAt: number;
  respondedAt: number | null;
  readonly malformed: boolean;
}

export interface StoredEvent {
  readonly merchant_id: string;
  readonly event_id: string;
  readonly event_name: string;
  readonly payload: string;
}
export interface StoredBatch {
  readonly merchant_id: string;
  readonly state: string;
  readonly body: Buffer;
  readonly new_items: Buffer | null;
}

/** The sent batches and the expected contents of the tables (contract.md 17). */
export class EventBooks {
  private readonly batches: SentBatch[] = [];
  private readonly byBody = new Map<string, SentBatch>();

  /** Returns a batch with these ids; each payload has its index. `spoil` makes the batch malformed. */
  batch(merchantId: string, ids: readonly string[], spoil?: (items: object[]) => unknown): SentBatch {
    const number = this.batches.length;
    const items = ids.map((event_id, place) => ({
      event_name: `Step ${number}`,
      payload: { mark: `${number}.${place}` },
      event_datetime: '2026-01-31T12:00:00Z',
      event_id,
      user_external_id: `customer-${place % 3}`,
    }));
    const body = JSON.stringify({ events: spoil?.(items) ?? items });
    const beganAt = performance.now();
    const lower = ids.map((id) => id.toLowerCase());
    const malformed = spoil !== undefined;
    const batch: SentBatch = { merchantId, body, ids: lower, beganAt, respondedAt: null, malformed };
    this.batches.push(batch);
    this.byBody.set(body, batch);
    return batch;
  }

  get sent(): readonly SentBatch[] {
    return this.batches;
  }

  hasResponse(body: string): boolean {
    return (this.byBody.get(body)?.respondedAt ?? null) !== null;
  }

  /** Returns the faults of the tables once no request is in flight. */
  faults(events: readonly StoredEvent[], stored: readonly StoredBatch[]): string[] {
    return [...this.faultsOfEvents(events), ...this.faultsOfBatches(events, stored)];
  }

  private faultsOfEvents(events: readonly StoredEvent[]): string[] {
    const firstResponses = this.firstResponses();
    const found = new Set<string>();
    const faults: string[] = [];
    for (const { merchant_id, event_id, event_name, payload } of events) {
      const key = `${merchant_id} ${event_id}`;
      if (found.has(key)) faults.push(`event ${key} is stored twice`);
      found.add(key);
      const [number, place] = markOf(payload);
      const batch = this.batches[number];
      const fits =
        batch?.merchantId === merchant_id &&
        batch.ids.indexOf(event_id) === place &&
        payload === `{"mark":"${number}.${place}"}` &&
        event_name === `step ${number}`;
      if (!fits) faults.push(`event ${key} is not the first of its id in a batch that was sent: ${payload}`);
      else if (batch.malformed) faults.push(`event ${key} is from a malformed batch`);
      else if (firstResponses.get(key)! < batch.beganAt)
        faults.push(
          `event ${key} is from batch ${number}, which was sent after another with it was accepted`,
        );
    }
    for (const [key, firstResponse] of firstResponses)
      if (firstResponse < Infinity && !found.has(key))
        faults.push(`event ${key} was accepted and is not there`);
    return [...faults, ...this.faultsWithoutResponse(found, firstResponses)];
  }

  /** A batch without a response is stored whole or not at all. */
  private faultsWithoutResponse(
    found: ReadonlySet<string>,
    firstResponses: ReadonlyMap<string, number>,
  ): string[] {
    const explained = new Set<string>();
    for (const { merchantId, ids, respondedAt, malformed } of this.batches) {
      if (respondedAt !== null || malformed) continue;
      const keys = ids.map((id) => `${merchantId} ${id}`);
      if (keys.every((key) => found.has(key))) for (const key of keys) explained.add(key);
    }
    return [...found]
      .filter((key) => firstResponses.get(key) === Infinity && !explained.has(key))
      .map((key) => `event ${key} is from a batch that is only in in parts`);
  }

  private faultsOfBatches(events: readonly StoredEvent[], stored: readonly StoredBatch[]): string[] {
    const faults: string[] = [];
    const counted = new Set<string>();
    for (const { merchant_id, body, new_items } of stored) {
      const text = body.toString('utf8');
      if (!this.byBody.has(text)) faults.push(`a batch is stored that was not sent: ${text.slice(0, 100)}`);
      const items = (JSON.parse(text) as { events: { payload: object }[] }).events;
      items.forEach(({ payload }, place) => {
        if (((new_items?.[place >> 3] ?? 0) & (0x80 >> (place & 7))) === 0) return;
        const mark = `${merchant_id} ${JSON.stringify(payload)}`;
        if (counted.has(mark)) faults.push(`an event was counted as new twice: ${mark}`);
        counted.add(mark);
      });
    }
    for (const { merchant_id, payload } of events)
      if (!counted.delete(`${merchant_id} ${payload}`)) faults.push(`no batch counted ${payload} as new`);
    for (const mark of counted) faults.push(`counted as new, and not there: ${mark}`);
    const malformed = new Set(this.batches.filter((each) => each.malformed).map(({ body }) => body));
    for (const { body } of stored)
      if (malformed.has(body.toString('utf8'))) faults.push('a malformed batch is stored');
    return faults;
  }

  /** Returns the time of the first 202 by `<merchant> <id>` of an event, Infinity without a 202. */
  private firstResponses(): Map<string, number> {
    const first = new Map<string, number>();
    for (const { merchantId, ids, respondedAt, malformed } of this.batches)
      for (const id of malformed ? [] : ids) {
        const key = `${merchantId} ${id}`;
        first.set(key, Math.min(first.get(key) ?? Infinity, respondedAt ?? Infinity));
      }
    return first;
  }
}

function markOf(payload: string): [number, number] {
  const [, number, place] = /^\{"mark":"(\d+)\.(\d+)"\}$/.exec(payload) ?? [];
  return [Number(number), Number(place)];
}

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
export const settled = async (pool: pg.Pool): Promise<boolean> =>
  (await count(pool, `tracking.batches where state in ('accepted', 'processed')`)) === 0;

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
  verdict.none('a batch is stuck', batches.rows, ({ state }) => state !== 'forwarded');
  verdict.none('the tables do not say what was sent', books.faults(events.rows, batches.rows));
  const stored = new Set(events.rows.map((each) => `${each.merchant_id} ${each.event_id}`));
  verdict.none('an event was not forwarded', stored, (key) => !forwarded.has(key));
  verdict.none('something was forwarded that is no event', forwarded.keys(), (key) => !stored.has(key));
  const again = [...forwarded.values()].reduce((sum, times) => sum + times - 1, 0);
  say(`books ${batches.rows.length} batches became ${stored.size} events`);
  say(`      forwarded ${forwarded.size} in ${forwardRequests} requests, ${again} again`);
}
