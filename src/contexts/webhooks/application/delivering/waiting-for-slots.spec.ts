import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { SendSlots, type Slot, type SlotLimits } from './send-slots.js';

const ANSWERED = { failure_phase: null, duration_ms: 5 };
const TIMED_OUT = { failure_phase: 'timeout', duration_ms: 30_000 } as const;
const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** As many lanes as are asked for, each with a backlog: whenever one gets no slot, it stands in line. */
class Lanes {
  readonly slots: SendSlots;
  readonly underWay: Slot[] = [];
  readonly began: string[] = [];
  readonly inLine = new Set<string>();

  constructor(limits: Partial<SlotLimits>) {
    this.slots = SendSlots.of(limits);
  }

  /** Takes what there is for the lane, at most `most`, then stands in line. */
  send(id: string, most = 1): void {
    for (let n = 0; n < most; n += 1) {
      const slot = this.slots.take(id);
      if (slot === null) return this.wait(id);
      this.start(slot);
    }
  }

  wait(id: string, goesOn = false): void {
    this.inLine.add(id);
    this.slots.wait(id, (slot) => {
      this.inLine.delete(id);
      this.start(slot);
      if (goesOn) this.wait(id, true);
    });
  }

  /** The one that began at that place among those under way is over. */
  end(place: number, attempt: typeof ANSWERED | typeof TIMED_OUT | null): void {
    const [slot] = this.underWay.splice(place % this.underWay.length, 1);
    if (slot) this.slots.giveBack(slot, attempt);
  }

  count(id: string): number {
    return this.began.filter((each) => each === id).length;
  }

  private start(slot: Slot): void {
    this.underWay.push(slot);
    this.began.push(slot.endpointId);
  }
}

describe('slots for young sends', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('have a limit of their own, and one that is answered makes room at once', () => {
    const lanes = new Lanes({ young: 4, youngMs: 100 });
    for (const id of IDS) lanes.send(id);
    expect(lanes.began).toEqual(['a', 'b', 'c', 'd']);
    lanes.end(2, ANSWERED);
    expect(lanes.began).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('are given up by what hangs, after 100 ms', () => {
    const lanes = new Lanes({ young: 4, youngMs: 100 });
    for (const id of IDS) lanes.send(id);
    jest.advanceTimersByTime(99);
    expect(lanes.began).toHaveLength(4);
    jest.advanceTimersByTime(2);
    expect(lanes.began).toEqual(IDS);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are 256 in a process: as many send at once, and as many more every 100 ms while all hang', () => {
    const lanes = new Lanes({});
    for (let n = 0; n < 1000; n += 1) lanes.send(`e${n}`, 16);
    expect(lanes.began).toHaveLength(256);
    jest.advanceTimersByTime(101);
    expect(lanes.began).toHaveLength(512);
  });

  it('go to a thousand lanes in turn, one each', () => {
    const lanes = new Lanes({});
    const ids = Array.from({ length: 1000 }, (_, n) => `e${n}`);
    for (let n = 0; n < 256; n += 1) lanes.send(`other ${n}`);
    for (const id of ids) lanes.wait(id, true);
    for (let n = 0; n < 10_000; n += 1) lanes.end(0, ANSWERED);
    const counts = ids.map((id) => lanes.count(id));
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('go to endpoints that answer before those that keep us waiting, and those get a turn in eight', () => {
    const lanes = new Lanes({ young: 2, youngMs: 100 });
    lanes.send('late', 2);
    jest.advanceTimersByTime(101);
    lanes.send('a', 2);
    for (const id of ['late', 'a', 'b']) lanes.wait(id, true);
    for (let n = 0; n < 80; n += 1) lanes.end(lanes.underWay.length - 1, ANSWERED);
    const { length } = lanes.began.slice(4);
    expect(lanes.count('late') - 2).toBeGreaterThanOrEqual(Math.floor(length / 8) - 1);
    expect(lanes.count('late') - 2).toBeLessThanOrEqual(Math.ceil(length / 8) + 1);
    expect(Math.abs(lanes.count('a') - lanes.count('b'))).toBeLessThanOrEqual(3);
  });

  it('stand back once a send of theirs is late, though they wait already', () => {
    const lanes = new Lanes({ young: 3, youngMs: 100 });
    lanes.send('late');
    jest.advanceTimersByTime(50);
    lanes.send('a', 2);
    for (const id of ['c', 'late', 'd']) lanes.wait(id);
    lanes.end(1, ANSWERED);
    jest.advanceTimersByTime(51);
    expect(lanes.began).toEqual(['late', 'a', 'a', 'c', 'd']);
    lanes.end(1, ANSWERED);
    expect(lanes.began.at(-1)).toBe('late');
  });

  it('come back to a lane at its share when others leave the process to it', () => {
    const lanes = new Lanes({ perEndpoint: 4, perProcess: 20 });
    for (let n = 0; n < 8; n += 1) lanes.send(`other ${n}`);
    lanes.send('a', 5);
    expect(lanes.count('a')).toBe(2);
    for (let n = 0; n < 8; n += 1) lanes.end(0, ANSWERED);
    expect(lanes.count('a')).toBe(3);
  });

  it('are never free for a lane that waits, whatever is taken, answered, left or hangs in whatever order', () => {
    const id = fc.constantFrom(...IDS);
    const step = fc.oneof(
      fc.record({ does: fc.constant('send' as const), id, most: fc.integer({ min: 1, max: 5 }) }),
      fc.record({
        does: fc.constant('end' as const),
        place: fc.nat(40),
        attempt: fc.constantFrom(ANSWERED, TIMED_OUT, null),
      }),
      fc.record({ does: fc.constant('leave' as const), id }),
      fc.record({ does: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 150 }) }),
    );
    const limits = fc.constantFrom(
      { perEndpoint: 4, perProcess: 12, young: 5, youngMs: 100 },
      { perEndpoint: 4, perProcess: 40, young: 3, youngMs: 100 },
      { perEndpoint: 2, perProcess: 6, young: 100, youngMs: 100 },
    );
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 150 }), (limit, steps) => {
        const lanes = new Lanes(limit);
        for (const each of steps) {
          if (each.does === 'send') lanes.send(each.id, each.most);
          else if (each.does === 'end') lanes.end(each.place, each.attempt);
          else if (each.does === 'pass') jest.advanceTimersByTime(each.ms);
          else {
            lanes.slots.leave(each.id);
            lanes.inLine.delete(each.id);
          }
          judge(lanes, limit);
        }
        // Nobody who waits is forgotten.
        for (let n = 0; n < 200; n += 1) {
          lanes.end(0, ANSWERED);
          jest.advanceTimersByTime(101);
        }
        expect([...lanes.inLine]).toEqual([]);
        while (lanes.underWay.length > 0) lanes.end(0, ANSWERED);
        lanes.send('new', 100);
        expect(lanes.underWay).toHaveLength(takeAll(SendSlots.of(limit), 'new'));
      }),
      { numRuns: 100 },
    );
  });
});

function takeAll(slots: SendSlots, id: string): number {
  let taken = 0;
  while (slots.take(id) !== null) taken += 1;
  return taken;
}

function judge(lanes: Lanes, { perEndpoint, perProcess, young, youngMs }: SlotLimits): void {
  const { underWay, inLine, slots } = lanes;
  const now = performance.now();
  const youngNow = underWay.filter((slot) => slot.began > now - youngMs).length;
  expect(underWay.length).toBeLessThanOrEqual(perProcess);
  expect(youngNow).toBeLessThanOrEqual(young);
  for (const id of IDS)
    expect(underWay.filter((slot) => slot.endpointId === id).length).toBeLessThanOrEqual(perEndpoint);
  for (const id of inLine) {
    if (slots.free(id) > 0 && youngNow < young) throw new Error(`${id} waits for nothing`);
  }
}
