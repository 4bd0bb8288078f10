import { setImmediate as tick } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptRecord, ClaimedDelivery } from '../../store/delivery-table.js';
import { SendingLane } from './lane.js';
import { SendSlots, type Slot } from './send-slots.js';

const ID = 'endpoint';
const RESPONDED = { failure_phase: null, duration_ms: 5 } as AttemptRecord;
const TIMED_OUT = { failure_phase: 'timeout', duration_ms: 30_000 } as AttemptRecord;

describe('lane', () => {
  let due: string[];
  let given: string[];
  let inFlight: Map<string, (attempt: AttemptRecord | null, dueNow: boolean) => void>;
  let most: number;
  let leasesHold: boolean;
  let unavailable: boolean;
  let ended: number;
  let recording: Promise<void>;
  let afterClaim: () => void;
  let slots: SendSlots;

  const lane = (id = ID): SendingLane =>
    new SendingLane(
      id,
      {
        slots,
        table: {
          claim: async (_endpoint, room) => {
            await tick();
            if (unavailable) throw new Error('unavailable');
            leasesHold = true;
            afterClaim();
            return due.splice(0, room).map((delivery_id) => ({ delivery_id }) as ClaimedDelivery);
          },
          release: async (rest) => {
            given.push(...rest.map((each) => each.delivery_id));
            due.push(...rest.map((each) => each.delivery_id));
          },
          leasesHold: () => leasesHold,
        },
        deliver: ({ delivery_id }, responded) =>
          new Promise((resolve) => {
            inFlight.set(delivery_id, (attempt, dueNow) => {
              responded(attempt);
              void recording.then(() => resolve(dueNow));
            });
            most = Math.max(most, inFlight.size);
          }),
        failed: () => undefined,
      },
      () => (ended += 1),
    );

  const end = async (id: string, attempt: AttemptRecord | null, dueNow = false): Promise<void> => {
    const resolve = inFlight.get(id)!;
    inFlight.delete(id);
    resolve(attempt, dueNow);
    await settle();
  };
  const settle = async (): Promise<void> => {
    for (let n = 0; n < 5; n += 1) await tick();
  };

  beforeEach(() => {
    due = [];
    given = [];
    inFlight = new Map();
    most = 0;
    leasesHold = true;
    unavailable = false;
    ended = 0;
    recording = Promise.resolve();
    afterClaim = () => undefined;
    slots = new SendSlots();
  });

  it('sends what is due, sixteen at a time, and ends when nothing is', async () => {
    due = ids(300);
    const done = lane().run();
    await settle();
    const sent: string[] = [];
    while (inFlight.size > 0) {
      const [first] = inFlight.keys();
      sent.push(first!);
      await end(first!, RESPONDED);
    }
    await done;
    expect([sent.length, new Set(sent).size, most, ended]).toEqual([300, 300, 16, 1]);
  });

  it('claims again when woken while it works, and when a delivery is due again at once', async () => {
    due = ids(1);
    const one = lane();
    const done = one.run();
    await settle();
    due = ['more'];
    one.wake();
    await settle();
    expect([...inFlight.keys()]).toEqual(['0', 'more']);
    due = ['again'];
    await end('0', RESPONDED, true);
    expect([...inFlight.keys()]).toEqual(['more', 'again']);
    await end('more', RESPONDED);
    await end('again', RESPONDED);
    await done;
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'misses no wake while it ends: %d microtasks after the last claim',
    async (after) => {
      let woken = false;
      const one = lane();
      afterClaim = () => {
        afterClaim = () => undefined;
        const wake = async (): Promise<void> => {
          for (let n = 0; n < after; n += 1) await Promise.resolve();
          due = ['new'];
          // Who finds it ended starts another one.
          woken = ended === 0;
          if (woken) one.wake();
        };
        void wake();
      };
      void one.run();
      await settle();
      expect([...inFlight.keys()]).toEqual(woken ? ['new'] : []);
    },
  );

  it('releases what a receiver that hangs would delay, and continues one by one', async () => {
    due = ids(40);
    const one = lane();
    void one.run();
    await settle();
    expect(due).toHaveLength(0);
    for (const id of [...inFlight.keys()].slice(0, 15)) await end(id, TIMED_OUT);
    expect(given).toHaveLength(24);
    await end('15', TIMED_OUT);
    expect(inFlight.size).toBe(1);
    expect(due).toHaveLength(23);
    await end([...inFlight.keys()][0]!, RESPONDED);
    expect(inFlight.size).toBe(2);
  });

  it('sends nothing that another may have claimed while this process had no heartbeat', async () => {
    due = ids(20);
    const one = lane();
    void one.run();
    await settle();
    leasesHold = false;
    await end('0', RESPONDED);
    expect(given).toEqual(['16', '17', '18', '19']);
    // Claimed again, once this process has said that it lives.
    expect([...inFlight.keys()]).toContain('16');
  });

  it('waits for its deliveries when the database becomes unavailable, so that the endpoint never has two lanes', async () => {
    due = ids(3);
    const one = lane();
    const done = one.run();
    await settle();
    unavailable = true;
    one.wake();
    await settle();
    expect(ended).toBe(0);
    for (const id of ['0', '1', '2']) await end(id, RESPONDED);
    await done;
    expect(ended).toBe(1);
  });

  it('waits for a slot of the process, and takes it as soon as there is one', async () => {
    slots = new SendSlots({ perEndpoint: 1, perProcess: 1, fresh: 256 });
    const other = once();
    slots.offer('other', other.start);
    due = ids(1);
    const done = lane().run();
    await settle();
    expect([inFlight.size, ended]).toEqual([0, 0]);
    slots.ended(other.slot!, RESPONDED);
    expect([...inFlight.keys()]).toEqual(['0']);
    await end('0', RESPONDED);
    await done;
  });

  it('leaves its slot to the next when it was stopped', async () => {
    slots = new SendSlots({ perEndpoint: 1, perProcess: 1, fresh: 256 });
    const other = once();
    slots.offer('other', other.start);
    due = ids(1);
    const waiting = lane();
    const done = waiting.run();
    await settle();
    let nextCalled = false;
    slots.offer('next', () => (nextCalled = !nextCalled));
    waiting.stop();
    slots.ended(other.slot!, RESPONDED);
    expect(nextCalled).toBe(true);
    await done;
    expect(given).toEqual(['0']);
  });

  it('sends on while responses wait to be recorded, claims ahead, and ends only when all are', async () => {
    due = ids(150);
    let recorded!: () => void;
    recording = new Promise((resolve) => (recorded = resolve));
    const done = lane().run();
    await settle();
    expect(due).toHaveLength(22);
    for (let n = 0; n < 150; n += 1) await end(String(n), RESPONDED);
    expect([most, due.length, ended]).toEqual([16, 0, 0]);
    recorded();
    await done;
    expect(ended).toBe(1);
  });

  it('starts nothing more when it is stopped, releases the rest and waits for what is in flight', async () => {
    due = ids(20);
    const one = lane();
    const done = one.run();
    await settle();
    one.stop();
    await settle();
    expect(given).toEqual(['16', '17', '18', '19']);
    for (const id of [...inFlight.keys()]) await end(id, RESPONDED);
    await done;
    expect(most).toBe(16);
  });
});

/** A lane with one delivery, and the slot it got for it. */
function once(): { slot: Slot | null; start(slot: Slot): boolean } {
  const one = {
    slot: null as Slot | null,
    start: (slot: Slot): boolean => {
      const first = one.slot === null;
      one.slot ??= slot;
      return first;
    },
  };
  return one;
}

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, n) => String(n));
}
