import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { SENDS_PER_ENDPOINT, SendSlots, type Slot, type SlotLimits } from './send-slots.js';

const RESPONDED = { failure_phase: null, duration_ms: 20_000 };
const REFUSED = { failure_phase: 'connect', duration_ms: 3 } as const;
const TIMED_OUT = { failure_phase: 'timeout', duration_ms: 30_000 } as const;
type Attempt = typeof RESPONDED | typeof REFUSED | typeof TIMED_OUT | null;

/** Lanes as they use the slots: each with a backlog, offered again after each of its deliveries. */
class Lanes {
  readonly slots: SendSlots;
  readonly inFlight: Slot[] = [];
  readonly began: string[] = [];
  readonly backlog = new Map<string, number>();

  constructor(readonly limits: SlotLimits) {
    this.slots = new SendSlots(limits);
  }

  add(id: string, count: number): void {
    this.backlog.set(id, (this.backlog.get(id) ?? 0) + count);
    this.offer(id);
  }

  /** The delivery at that place among those in flight is over. */
  end(place: number, attempt: Attempt): void {
    const [slot] = this.inFlight.splice(place % this.inFlight.length, 1);
    if (slot === undefined) return;
    this.slots.ended(slot, attempt);
    this.offer(slot.endpointId);
  }

  count(id: string): number {
    return this.inFlight.filter(({ endpointId }) => endpointId === id).length;
  }

  private offer(id: string): void {
    this.slots.offer(id, (slot) => {
      const left = this.backlog.get(id)!;
      if (left === 0) return false;
      this.backlog.set(id, left - 1);
      this.inFlight.push(slot);
      this.began.push(id);
      return true;
    });
  }
}

const alone = (): Lanes => new Lanes({ perEndpoint: 16, perProcess: 100_000, fresh: 100_000 });

describe('slots of one endpoint', () => {
  it('are sixteen', () => {
    const lanes = alone();
    lanes.add('a', 100);
    expect(lanes.count('a')).toBe(SENDS_PER_ENDPOINT);
  });

  it('halve with each delivery that holds its sender up, down to one, and grow by one with each response', () => {
    const lanes = alone();
    const caps = [TIMED_OUT, TIMED_OUT, RESPONDED, TIMED_OUT, TIMED_OUT, TIMED_OUT, RESPONDED, REFUSED].map(
      (attempt) => {
        lanes.add('a', 1);
        lanes.end(0, attempt);
        return lanes.slots.free('a');
      },
    );
    expect(caps).toEqual([8, 4, 5, 2, 1, 1, 2, 3]);
  });

  it('are sixteen again after as many responses, and never more', () => {
    const lanes = alone();
    for (const attempt of [...Array(4).fill(TIMED_OUT), ...Array(40).fill(RESPONDED)] as Attempt[]) {
      lanes.add('a', 1);
      lanes.end(0, attempt);
    }
    expect(lanes.slots.isSlow('a')).toBe(false);
    expect(lanes.slots.free('a')).toBe(16);
  });

  it('do not change by what was dropped without an attempt', () => {
    const lanes = alone();
    for (const attempt of [TIMED_OUT, null]) {
      lanes.add('a', 1);
      lanes.end(0, attempt);
    }
    expect(lanes.slots.free('a')).toBe(8);
  });
});

describe('slots of a process', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('are 256 fresh ones: as many begin at once, and as many more every 100 ms while all hang', () => {
    const lanes = new Lanes({ perEndpoint: 16, perProcess: 4096, fresh: 256 });
    for (let n = 0; n < 1000; n += 1) lanes.add(`e${n}`, 16);
    expect(lanes.began).toHaveLength(256);
    jest.advanceTimersByTime(101);
    expect(lanes.began).toHaveLength(512);
    lanes.end(511, RESPONDED);
    expect(lanes.began).toHaveLength(513);
    jest.advanceTimersByTime(10_000);
    expect(lanes.inFlight).toHaveLength(4096);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('go to the lanes by round robin, one each', () => {
    const lanes = new Lanes({ perEndpoint: 16, perProcess: 4096, fresh: 256 });
    const ids = Array.from({ length: 1000 }, (_, n) => `e${n}`);
    for (const id of ids) lanes.add(id, 100);
    for (let n = 0; n < 10_000; n += 1) lanes.end(0, RESPONDED);
    const counts = new Map(ids.map((id) => [id, 0]));
    for (const id of lanes.began.slice(256)) counts.set(id, counts.get(id)! + 1);
    const all = [...counts.values()];
    expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(16);
  });

  it('are half for those that respond, however many others hang', () => {
    const lanes = new Lanes({ perEndpoint: 16, perProcess: 64, fresh: 64 });
    for (let n = 0; n < 1000; n += 1) {
      lanes.add(`slow ${n}`, 1);
      lanes.end(0, TIMED_OUT);
    }
    for (let n = 0; n < 1000; n += 1) lanes.add(`slow ${n}`, 100);
    expect(lanes.inFlight).toHaveLength(32);
    lanes.add('prompt', 100);
    expect(lanes.count('prompt')).toBe(16);
  });

  it('go to slow endpoints, too, while others have a backlog', () => {
    const lanes = new Lanes({ perEndpoint: 4, perProcess: 4, fresh: 4 });
    lanes.add('slow', 1);
    lanes.end(0, TIMED_OUT);
    for (const id of ['a', 'b', 'c', 'slow']) lanes.add(id, 100);
    for (let n = 0; n < 8; n += 1) lanes.end(0, RESPONDED);
    expect(lanes.began.slice(1)).toContain('slow');
  });

  it('are within their limits, and never free for a lane that waits, for any order of ends', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    const step = fc.oneof(
      fc.record({ does: fc.constant('add' as const), id, count: fc.integer({ min: 1, max: 9 }) }),
      fc.record({
        does: fc.constant('end' as const),
        place: fc.nat(40),
        attempt: fc.constantFrom(RESPONDED, TIMED_OUT, null),
      }),
      fc.record({ does: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 150 }) }),
    );
    const limits = fc.constantFrom(
      { perEndpoint: 4, perProcess: 12, fresh: 12 },
      { perEndpoint: 4, perProcess: 40, fresh: 3 },
      { perEndpoint: 2, perProcess: 40, fresh: 40 },
    );
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 200 }), (limit, steps) => {
        const lanes = new Lanes(limit);
        for (const each of steps) {
          if (each.does === 'add') lanes.add(each.id, each.count);
          else if (each.does === 'end') lanes.end(each.place, each.attempt);
          else jest.advanceTimersByTime(each.ms);
          expectLimits(lanes);
        }
        // No lane that waits is forgotten.
        while (lanes.inFlight.length > 0) lanes.end(0, RESPONDED);
        jest.advanceTimersByTime(101);
        expect([...lanes.backlog.values()].filter((left) => left > 0)).toEqual([]);
        lanes.add('new', 100);
        expect(lanes.count('new')).toBe(Math.min(limit.perEndpoint, limit.fresh));
      }),
      { numRuns: 200 },
    );
  });
});

describe('deliveries in hand', () => {
  it('are up to 128 for an endpoint, fewer when much is in hand, one at least', () => {
    const slots = new SendSlots();
    expect(slots.hold('a')).toBe(128);
    const rooms = Array.from({ length: 2000 }, (_, n) => slots.hold(`e${n}`));
    expect(rooms.at(-1)).toBe(1);
    expect(rooms.reduce((a, b) => a + b, 0)).toBeLessThan(20_000);
    for (const room of [128, ...rooms]) slots.letGo(room);
    expect(slots.hold('a')).toBe(128);
  });

  it('are no more than a slow endpoint can be sent at once', () => {
    const lanes = alone();
    for (let n = 0; n < 4; n += 1) {
      lanes.add('a', 1);
      lanes.end(0, TIMED_OUT);
    }
    expect(lanes.slots.hold('a')).toBe(1);
  });
});

function expectLimits(lanes: Lanes): void {
  const { inFlight, backlog, slots, limits } = lanes;
  const { perEndpoint, perProcess } = limits;
  const slow = inFlight.filter(({ endpointId }) => slots.isSlow(endpointId)).length;
  const fresh = inFlight.filter(({ began }) => began > performance.now() - 100).length;
  expect(inFlight.length).toBeLessThanOrEqual(perProcess);
  expect(fresh).toBeLessThanOrEqual(limits.fresh);
  for (const [id, left] of backlog) {
    expect(lanes.count(id)).toBeLessThanOrEqual(perEndpoint);
    if (left === 0 || slots.free(id) === 0 || inFlight.length === perProcess) continue;
    if (slots.isSlow(id) && slow >= perProcess / 2) continue;
    // Time makes room in steps of 100 ms.
    if (fresh === limits.fresh || jest.getTimerCount() > 0) continue;
    throw new Error(`${id} waits for nothing`);
  }
}
