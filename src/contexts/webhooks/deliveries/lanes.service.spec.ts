import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import type { AttemptRecord, DeliveryClaim, DeliveryTable } from './deliveries.store.js';
import { Lanes, SEND_LIMITS, type SendLimits } from './lanes.service.js';

const RESPONDED = { error: null, duration_ms: 20_000 } as AttemptRecord;
const REFUSED = { error: 'refused', duration_ms: 3 } as AttemptRecord;
const TIMED_OUT = { error: 'timed out', duration_ms: 30_000 } as AttemptRecord;
type Attempt = AttemptRecord | null;

interface Sending {
  readonly endpoint: string;
  readonly id: string;
  readonly began: number;
  readonly end: (attempt: Attempt, dueInMs: number | null) => void;
}

/** Lanes between a table and receivers, whose responses the test controls. */
class Harness {
  readonly due = new Map<string, string[]>();
  readonly released: string[] = [];
  readonly rooms: number[] = [];
  readonly began: string[] = [];
  readonly inFlight: Sending[] = [];
  /** The scheduled wakes: the endpoint and the delay in milliseconds. */
  readonly later: (readonly [endpoint: string, ms: number])[] = [];
  /** The deliveries that occupied the last slot of their endpoint. */
  readonly filling: string[] = [];
  private hasValidLeases = true;
  unavailable = false;
  recording: Promise<void> = Promise.resolve();
  releasedAll = false;
  readonly lanes: Lanes;
  private added = 0;

  constructor(readonly limits: SendLimits = SEND_LIMITS) {
    const table = {
      claim: async (endpoint: string, room: number) => {
        this.rooms.push(room);
        await Promise.resolve();
        if (this.unavailable) throw new Error('unavailable');
        this.hasValidLeases = true;
        const rows = this.due.get(endpoint)?.splice(0, room) ?? [];
        return rows.map((delivery_id) => ({ delivery_id, endpoint_id: endpoint }));
      },
      release: async (rest: readonly DeliveryClaim[]) => {
        for (const { delivery_id, endpoint_id } of rest) {
          this.released.push(delivery_id);
          this.due.get(endpoint_id)!.push(delivery_id);
        }
      },
      hasValidLeases: () => this.hasValidLeases,
      releaseAll: async () => void (this.releasedAll = true),
    };
    const deliver = (
      { delivery_id: id, endpoint_id: endpoint }: DeliveryClaim,
      responded: (a: Attempt) => void,
      fills: boolean,
    ) =>
      new Promise<number | null>((resolve) => {
        if (fills) this.filling.push(id);
        const end = (attempt: Attempt, dueInMs: number | null): void => {
          responded(attempt);
          void this.recording.then(() => resolve(dueInMs));
        };
        this.inFlight.push({ endpoint, id, began: performance.now(), end });
        this.began.push(endpoint);
      });
    this.lanes = new Lanes(
      table as unknown as DeliveryTable,
      { deliver, stop: () => undefined },
      (endpoint, ms) => void this.later.push([endpoint, ms]),
      limits,
    );
  }

  /** Makes further deliveries of the endpoint due. */
  async add(endpoint: string, count: number): Promise<void> {
    const due = this.due.get(endpoint) ?? [];
    this.due.set(endpoint, due);
    for (let n = 0; n < count; n += 1) due.push(`${endpoint} ${(this.added += 1)}`);
    this.lanes.wake(endpoint);
    await settle();
  }

  /** Ends the delivery at this index of those in flight. */
  async end(place: number, attempt: Attempt, dueInMs: number | null = null): Promise<void> {
    const [sending] = this.inFlight.splice(place % this.inFlight.length, 1);
    sending?.end(attempt, dueInMs);
    await settle();
  }

  /** Stops the heartbeat of the process. */
  stall(): void {
    this.hasValidLeases = false;
  }

  count(endpoint: string): number {
    return this.inFlight.filter((each) => each.endpoint === endpoint).length;
  }

  dueOf(endpoint: string): number {
    return this.due.get(endpoint)?.length ?? 0;
  }
}

/** Waits until claims, releases and records are finished. */
async function settle(): Promise<void> {
  for (let n = 0; n < 40; n += 1) await Promise.resolve();
}

let harness: Harness;
beforeEach(() => {
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  harness = new Harness();
});
afterEach(() => void jest.useRealTimers());

describe('the sender of one endpoint', () => {
  it('sends each due delivery once, at most sixteen at a time', async () => {
    await harness.add('a', 300);
    const sent = new Set<string>();
    while (harness.inFlight.length > 0) {
      expect(harness.inFlight.length).toBeLessThanOrEqual(16);
      sent.add(harness.inFlight[0]!.id);
      jest.advanceTimersByTime(10);
      await harness.end(0, RESPONDED);
    }
    expect([sent.size, harness.began.length]).toEqual([300, 300]);
    expect(harness.filling).toEqual(Array.from({ length: 285 }, (_, n) => `a ${n + 16}`));
  });

  it('claims again if it is woken while it sends, and if a delivery is due again at once', async () => {
    await harness.add('a', 1);
    await harness.add('a', 1);
    expect(harness.inFlight).toHaveLength(2);
    harness.due.get('a')!.push('again');
    await harness.end(0, RESPONDED, 0);
    expect(harness.inFlight.map(({ id }) => id)).toEqual(['a 2', 'again']);
    await harness.end(0, REFUSED, 5000);
    expect(harness.later).toEqual([['a', 5000]]);
  });

  it('releases its unsent deliveries while the receiver hangs, and then sends one at a time', async () => {
    await harness.add('a', 40);
    expect(harness.dueOf('a')).toBe(0);
    for (let n = 0; n < 15; n += 1) await harness.end(0, TIMED_OUT);
    expect(harness.released).toHaveLength(24);
    await harness.end(0, TIMED_OUT);
    expect([harness.inFlight.length, harness.dueOf('a')]).toEqual([1, 23]);
    await harness.end(0, RESPONDED);
    expect(harness.inFlight).toHaveLength(2);
  });

  it('sends no claimed delivery after a missed heartbeat until it claims the delivery again', async () => {
    await harness.add('a', 20);
    harness.stall();
    await harness.end(0, RESPONDED);
    expect(harness.released).toEqual(['a 17', 'a 18', 'a 19', 'a 20']);
    // Claimed again after the next heartbeat.
    expect(harness.inFlight.map(({ id }) => id)).toContain('a 17');
  });

  it('waits for the next wake-up if the database is unavailable', async () => {
    harness.unavailable = true;
    await harness.add('a', 3);
    expect([harness.inFlight.length, harness.rooms]).toEqual([0, [128]]);
    harness.unavailable = false;
    harness.lanes.wake('a');
    await settle();
    expect([harness.inFlight.length, harness.rooms]).toEqual([3, [128, 128]]);
  });

  it('sends and claims further deliveries while responses wait to be recorded, up to a limit', async () => {
    let recorded!: () => void;
    harness.recording = new Promise((resolve) => (recorded = resolve));
    await harness.add('a', 700);
    expect(harness.dueOf('a')).toBe(700 - 128);
    for (let n = 0; n < 512; n += 1) {
      jest.advanceTimersByTime(10);
      await harness.end(0, RESPONDED);
    }
    const claimed = 700 - harness.dueOf('a');
    expect([claimed >= 512, claimed < 700]).toEqual([true, true]);
    recorded();
    for (let n = 512; n < 700; n += 1) {
      jest.advanceTimersByTime(10);
      await harness.end(0, RESPONDED);
    }
    expect([harness.began.length, harness.inFlight.length]).toEqual([700, 0]);
  });

  it('starts no delivery after a stop, releases unsent ones and waits for those in flight', async () => {
    await harness.add('a', 20);
    const stopped = harness.lanes.stop();
    await settle();
    expect(harness.released).toEqual(['a 17', 'a 18', 'a 19', 'a 20']);
    expect(harness.releasedAll).toBe(false);
    while (harness.inFlight.length > 0) await harness.end(0, RESPONDED);
    await stopped;
    expect([harness.began.length, harness.releasedAll]).toEqual([16, true]);
  });

  it('claims up to 128 deliveries at once, but only one while the process has many claims', async () => {
    harness = new Harness({ ...SEND_LIMITS, fresh: 0 });
    for (let n = 0; n < 2000; n += 1) await harness.add(`e${n}`, 128);
    expect([harness.rooms[0], harness.rooms.at(-1)]).toEqual([128, 1]);
    expect(harness.rooms.reduce((a, b) => a + b, 0)).toBeLessThan(20_000);
  });
});

describe('the sending slots of an endpoint', () => {
  it('halve with each slow failure down to one and grow by one with each response', async () => {
    await harness.add('a', 1000);
    for (const attempt of [TIMED_OUT, null, TIMED_OUT, RESPONDED, TIMED_OUT, TIMED_OUT, TIMED_OUT])
      await harness.end(0, attempt);
    while (harness.inFlight.length > 1) await harness.end(0, null);
    for (const expected of [2, 3, 4]) {
      await harness.end(0, expected === 3 ? REFUSED : RESPONDED);
      expect(harness.inFlight).toHaveLength(expected);
    }
    for (let n = 0; n < 40; n += 1) {
      jest.advanceTimersByTime(10);
      await harness.end(0, RESPONDED);
    }
    expect(harness.inFlight).toHaveLength(16);
  });
});

describe('the sending slots of a process', () => {
  it('allow 256 new attempts at once, and 256 more per 100 ms while all receivers hang', async () => {
    for (let n = 0; n < 1000; n += 1) await harness.add(`e${n}`, 16);
    expect(harness.began).toHaveLength(256);
    jest.advanceTimersByTime(101);
    await settle();
    expect(harness.began).toHaveLength(512);
    await harness.end(511, RESPONDED);
    expect(harness.began).toHaveLength(513);
    for (let n = 0; n < 100; n += 1) {
      jest.advanceTimersByTime(101);
      await settle();
    }
    expect(harness.inFlight).toHaveLength(4096);
  });

  it('are distributed evenly over the endpoints', async () => {
    const ids = Array.from({ length: 200 }, (_, n) => `e${n}`);
    for (const id of ids) await harness.add(id, 100);
    for (let n = 0; n < 4000; n += 1) await harness.end(0, RESPONDED);
    const counts = new Map(ids.map((id) => [id, 0]));
    for (const id of harness.began.slice(256)) counts.set(id, counts.get(id)! + 1);
    const all = [...counts.values()];
    expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(16);
  });

  it('keep one half for responsive endpoints, however many other endpoints hang', async () => {
    harness = new Harness({ perEndpoint: 16, perProcess: 64, fresh: 64 });
    for (let n = 0; n < 200; n += 1) {
      await harness.add(`slow ${n}`, 1);
      await harness.end(0, TIMED_OUT);
    }
    for (let n = 0; n < 200; n += 1) await harness.add(`slow ${n}`, 100);
    expect(harness.inFlight).toHaveLength(32);
    await harness.add('prompt', 100);
    expect(harness.count('prompt')).toBe(16);
  });

  it('serve slow endpoints too while other endpoints have a backlog', async () => {
    harness = new Harness({ perEndpoint: 4, perProcess: 4, fresh: 4 });
    await harness.add('slow', 1);
    await harness.end(0, TIMED_OUT);
    for (const id of ['a', 'b', 'c', 'slow']) await harness.add(id, 100);
    for (let n = 0; n < 8; n += 1) await harness.end(0, RESPONDED);
    expect(harness.began.slice(1)).toContain('slow');
  });

  it('stay within their limits for any order of responses, and each delivery is sent', async () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    const step = fc.oneof(
      fc.record({ does: fc.constant('add' as const), id, count: fc.integer({ min: 1, max: 9 }) }),
      fc.record({
        does: fc.constant('end' as const),
        place: fc.nat(40),
        attempt: fc.constantFrom(RESPONDED, TIMED_OUT, null),
      }),
      fc.record({ does: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 150 }) }),
      fc.record({ does: fc.constant('stall' as const) }),
    );
    const limits = fc.constantFrom(
      { perEndpoint: 4, perProcess: 12, fresh: 12 },
      { perEndpoint: 4, perProcess: 40, fresh: 3 },
      { perEndpoint: 2, perProcess: 40, fresh: 40 },
    );
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 100 }), async (limit, steps) => {
        harness = new Harness(limit);
        for (const each of steps) {
          if (each.does === 'add') await harness.add(each.id, each.count);
          else if (each.does === 'end' && harness.inFlight.length > 0)
            await harness.end(each.place, each.attempt);
          else if (each.does === 'pass') jest.advanceTimersByTime(each.ms);
          else if (each.does === 'stall') harness.stall();
          await settle();
          expectLimits(harness);
        }
        for (let n = 0; n < 2000 && [...harness.due.keys()].some((each) => isWaiting(each)); n += 1) {
          jest.advanceTimersByTime(101);
          await settle();
          if (harness.inFlight.length > 0) await harness.end(0, RESPONDED);
        }
        while (harness.inFlight.length > 0) await harness.end(0, RESPONDED);
        expect([...harness.due.values()].flat()).toEqual([]);
      }),
      { numRuns: Number(process.env['LANE_RUNS'] ?? 30) },
    );
  });
});

const isWaiting = (id: string): boolean => harness.dueOf(id) > 0 || harness.count(id) > 0;

function expectLimits({ inFlight, limits, due, count }: Harness): void {
  expect(inFlight.length).toBeLessThanOrEqual(limits.perProcess);
  const fresh = inFlight.filter(({ began }) => began > performance.now() - 100);
  expect(fresh.length).toBeLessThanOrEqual(limits.fresh);
  for (const id of due.keys()) expect(count.call(harness, id)).toBeLessThanOrEqual(limits.perEndpoint);
}
