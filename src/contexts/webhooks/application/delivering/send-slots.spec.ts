import { describe, expect, it } from '@jest/globals';
import { SENDS_PER_ENDPOINT, SendSlots } from './send-slots.js';

const LIMITS = { perEndpoint: 16, perProcess: 64 };
const ANSWERED = { failure_phase: null, duration_ms: 20_000 };
const REFUSED = { failure_phase: 'connect', duration_ms: 3 } as const;
const TIMED_OUT = { failure_phase: 'timeout', duration_ms: 30_000 } as const;

describe('slots of one endpoint', () => {
  it('are sixteen', () => {
    expect(takeAll(new SendSlots(), 'a')).toBe(SENDS_PER_ENDPOINT);
  });

  it('halve with each delivery that holds its sender up, down to one, and grow by one with each answer', () => {
    const slots = SendSlots.of({ perEndpoint: 16, perProcess: 100_000 });
    const caps = [TIMED_OUT, TIMED_OUT, ANSWERED, TIMED_OUT, TIMED_OUT, TIMED_OUT, ANSWERED, REFUSED].map(
      (attempt) => {
        slots.giveBack(slots.take('a')!, attempt);
        return slots.free('a');
      },
    );
    expect(caps).toEqual([8, 4, 5, 2, 1, 1, 2, 3]);
  });

  it('are sixteen again after as many answers, and never more', () => {
    const slots = SendSlots.of({ perEndpoint: 16, perProcess: 100_000 });
    for (const attempt of [...Array(4).fill(TIMED_OUT), ...Array(40).fill(ANSWERED)] as (typeof ANSWERED)[]) {
      slots.giveBack(slots.take('a')!, attempt);
    }
    expect(slots.isSlow('a')).toBe(false);
    expect(slots.free('a')).toBe(16);
  });

  it('are not judged by what was dropped without an attempt', () => {
    const slots = SendSlots.of({ perEndpoint: 16, perProcess: 100_000 });
    slots.giveBack(slots.take('a')!, TIMED_OUT);
    slots.giveBack(slots.take('a')!, null);
    expect(slots.free('a')).toBe(8);
  });
});

describe('slots of a process', () => {
  it('are shared: the more endpoints send, the fewer each gets, and none gets nothing before all are taken', () => {
    const slots = SendSlots.of(LIMITS);
    const taken = Array.from({ length: 10 }, (_, n) => takeAll(slots, `e${n}`));
    expect(taken[0]).toBeGreaterThan(taken[9]!);
    expect(taken.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(64);
    expect(taken.every((each) => each >= 1)).toBe(true);
  });

  it('are half for those that answer, however many others hang', () => {
    const slots = SendSlots.of(LIMITS);
    for (let n = 0; n < 1000; n += 1) {
      slots.giveBack(slots.take(`slow ${n}`)!, TIMED_OUT);
    }
    const hanging = Array.from({ length: 1000 }, (_, n) => takeAll(slots, `slow ${n}`));
    expect(hanging.reduce((a, b) => a + b, 0)).toBe(32);
    expect(takeAll(slots, 'prompt')).toBeGreaterThanOrEqual(6);
  });

  it('go to those who wait, those of endpoints that answer first', () => {
    const slots = SendSlots.of({ perEndpoint: 2, perProcess: 4 });
    slots.giveBack(slots.take('slow')!, TIMED_OUT);
    const called: string[] = [];
    const taken = ['a', 'b', 'c', 'd'].map((id) => slots.take(id)!);
    for (const id of ['slow', 'e', 'f']) slots.wait(id, () => called.push(id));
    // The very first turn is one of those that go to the last.
    for (const slot of taken) slots.giveBack(slot, ANSWERED);
    expect(called).toEqual(['slow', 'e', 'f']);
  });

  it('go to the next in line when the first has no use for one any more', () => {
    const slots = SendSlots.of({ perEndpoint: 1, perProcess: 1 });
    const called: string[] = [];
    const slot = slots.take('a')!;
    slots.wait('b', (unused) => slots.giveBack(unused, null));
    slots.wait('c', () => called.push('c'));
    slots.giveBack(slot, ANSWERED);
    expect(called).toEqual(['c']);
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
    const slots = new SendSlots();
    for (let n = 0; n < 4; n += 1) {
      slots.giveBack(slots.take('a')!, TIMED_OUT);
    }
    expect(slots.hold('a')).toBe(1);
  });
});

function takeAll(slots: SendSlots, id: string): number {
  let taken = 0;
  while (slots.take(id)) taken += 1;
  return taken;
}
