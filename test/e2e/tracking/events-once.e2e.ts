import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventually } from '../../support/eventually.js';
import type { Side } from '../../support/database/crashing-proxy.js';
import type { Credentials } from '../../support/http/signed-client.js';
import { EventBooks, type SentBatch } from '../../support/tracking/event-books.js';
import { EventHarness, type Part } from '../../support/tracking/event-harness.js';

/** `EVENTS_RUNS=500` for a long run. */
const RUNS = Number(process.env['EVENTS_RUNS'] ?? 12);
const TIMEOUT_MS = 30_000 + RUNS * 5000;
/** Ids that all batches of a run share. */
const IDS = 8;
/** Of the test of orderly stops. */
const [STOPS, CLIENTS, ITEMS] = [2, 6, 200];
/** Without a backlog a process only finishes transactions in flight. */
const STOPS_WITHIN_MS = 15_000;
/** How far back the months lie in which runs take place: all of them are kept. */
const MONTHS_BACK = 12;

/** One thing wrong with a batch; `place` is the item at fault. */
const FAULTS: Readonly<Record<string, (items: object[], place: number) => unknown>> = {
  'an event_id of another version': (items, place) =>
    changed(items, place, { event_id: '018f4a6e-7c1b-7a2b-8b0e-1f2a3b4c5d6e' }),
  'no event_id': (items, place) => changed(items, place, { event_id: undefined }),
  'a blank event_name': (items, place) => changed(items, place, { event_name: '  ' }),
  'a payload that is an array': (items, place) => changed(items, place, { payload: [] }),
  '30 February': (items, place) => changed(items, place, { event_datetime: '2026-02-30T00:00:00Z' }),
  'a user that is a number': (items, place) => changed(items, place, { user_external_id: 7 }),
  'an item that is none': (items, place) => items.with(place, 'event' as never),
  'no array': (items) => ({ ...items }),
  'too many items': (items) => Array.from({ length: 1001 }, (_, place) => items[place % items.length]),
};

interface Send {
  readonly does: 'send';
  readonly merchant: number;
  /** Places in the pool of ids, and whether the id is sent in upper case. */
  readonly items: readonly { readonly id: number; readonly upper: boolean }[];
  readonly fault: keyof typeof FAULTS | null;
  readonly keyed: boolean;
  readonly retries: boolean;
}
interface Repeat {
  readonly does: 'repeat';
  /** Counted back from the last batch. */
  readonly back: number;
  readonly key: 'same' | 'new' | 'none';
  readonly retries: boolean;
}
interface Doom {
  readonly does: 'doom';
  readonly part: Part;
  readonly nth: number;
  readonly side: Side;
}
type Step =
  | Send
  | Repeat
  | Doom
  | { readonly does: 'together'; readonly steps: readonly (Send | Repeat)[] }
  | { readonly does: 'revive' | 'settle' | 'midnight' | 'pile up' };

const retries = fc.nat(3).map((dice) => dice > 0);
const send: fc.Arbitrary<Send> = fc.record({
  does: fc.constant('send'),
  merchant: fc.nat(1),
  items: fc.array(fc.record({ id: fc.nat(IDS - 1), upper: fc.boolean() }), { minLength: 1, maxLength: 9 }),
  fault: fc.option(fc.constantFrom(...Object.keys(FAULTS)), { freq: 5 }),
  keyed: fc.boolean(),
  retries,
});
const repeat: fc.Arbitrary<Repeat> = fc.record({
  does: fc.constant('repeat'),
  back: fc.nat(5),
  key: fc.constantFrom('same', 'new', 'none'),
  retries,
});
const doom: fc.Arbitrary<Doom> = fc.record({
  does: fc.constant('doom'),
  part: fc.constantFrom('api', 'api', 'worker', 'other worker'),
  nth: fc.integer({ min: 1, max: 9 }),
  side: fc.constantFrom('unsent', 'unacknowledged'),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: send },
  { weight: 3, arbitrary: repeat },
  { weight: 4, arbitrary: doom },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('together' as const),
      steps: fc.array(fc.oneof(send, repeat), { minLength: 2, maxLength: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constantFrom('revive', 'settle', 'midnight', 'pile up') }),
  },
);

let harness: EventHarness;
let runs = 0;

beforeAll(async () => {
  harness = await EventHarness.open();
});
afterAll(() => harness.close());

test(
  'what is stored are the valid, unseen ids, in any order and with any repeats and crashes',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const run = await Run.begin();
        for (const each of steps) await run.take(each);
        await run.end();
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: TIMEOUT_MS * 0.9, endOnFailure: RUNS < 100 },
    );
    expect(harness.deaths).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test('processes that are stopped with batches in flight end soon, and lose and repeat nothing', async () => {
  const merchants = await Promise.all([harness.newMerchant(), harness.newMerchant()]);
  const names = merchants.map(({ apiKey }) => apiKey);
  const books = new EventBooks();
  for (let round = 0; round < STOPS; round += 1) {
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
  expect(books.sent.length).toBeGreaterThan(STOPS * CLIENTS);
  expect(books.sent.every(({ respondedAt }) => respondedAt !== null)).toBe(true);
  expect(books.faults(await harness.events(names), await harness.batches(names))).toEqual([]);
});

/** One run of the property: two merchants of its own, who use the same ids. */
class Run {
  private readonly books = new EventBooks();
  private readonly ids = Array.from({ length: IDS }, () => randomUUID() as string);
  private readonly keys = new Map<SentBatch, string | null>();

  private constructor(
    private readonly merchants: readonly Credentials[],
    private month: number,
  ) {}

  static async begin(): Promise<Run> {
    await harness.reviveAll();
    const merchants = [await harness.newMerchant(), await harness.newMerchant()];
    runs += 1;
    const run = new Run(merchants, -MONTHS_BACK + (runs % (MONTHS_BACK - 2)));
    run.toTheEndOfTheMonth();
    return run;
  }

  async take(step: Step): Promise<void> {
    switch (step.does) {
      case 'send':
        return this.send(step);
      case 'repeat':
        return this.repeat(step);
      case 'together':
        await Promise.all(step.steps.map((each) => this.take(each)));
        return;
      case 'doom':
        return harness.doom(step.part, step.nth, step.side);
      case 'revive':
        return harness.reviveAll();
      case 'settle':
        await harness.reviveAll();
        return harness.settle(this.merchantIds, ['processed', 'forwarded']);
      case 'pile up':
        return harness.pileUp(this.merchantIds);
      case 'midnight':
        this.month = Math.min(this.month + 1, -1);
        return this.toTheEndOfTheMonth();
    }
  }

  async end(): Promise<void> {
    await harness.reviveAll();
    await harness.settle(this.merchantIds, ['processed', 'forwarded']);
    const [events, batches] = [
      await harness.events(this.merchantIds),
      await harness.batches(this.merchantIds),
    ];
    expect(this.books.faults(events, batches)).toEqual([]);
    await harness.settle(this.merchantIds, ['forwarded']);
    const missing = await harness.notForwarded(this.merchantIds);
    expect(missing).toEqual([]);
  }

  private async send({ merchant, items, fault, keyed, retries }: Send): Promise<void> {
    const who = this.merchants[merchant]!;
    const ids = items.map(({ id, upper }) => (upper ? this.ids[id]!.toUpperCase() : this.ids[id]!));
    const spoil = fault === null ? undefined : FAULTS[fault];
    const batch = this.books.batch(who.apiKey, ids, spoil && ((all) => spoil(all, all.length >> 1)));
    const key = keyed ? randomUUID() : null;
    this.keys.set(batch, key);
    const status = await harness.send(batch, who, { key, retries });
    const expected = fault === null ? 202 : fault === 'too many items' ? 413 : 400;
    // A client that gives up may have met a dying service.
    if (retries || ![null, 409, 503].includes(status)) expect(status).toBe(expected);
  }

  private async repeat({ back, key, retries }: Repeat): Promise<void> {
    const batch = this.books.sent.at(-1 - back);
    if (batch === undefined || batch.malformed) return;
    const who = this.merchants.find(({ apiKey }) => apiKey === batch.merchantId)!;
    const keys = { same: this.keys.get(batch) ?? null, new: randomUUID(), none: null };
    const status = await harness.send(batch, who, { key: keys[key], retries });
    if (retries) expect(status).toBe(202);
  }

  /** The month ends during the next steps. */
  private toTheEndOfTheMonth(): void {
    const now = new Date();
    harness.setClock(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + this.month + 1) - 40));
  }

  private get merchantIds(): string[] {
    return this.merchants.map(({ apiKey }) => apiKey);
  }
}

function changed(items: object[], place: number, fields: object): unknown {
  return items.with(place, { ...items[place], ...fields });
}
