import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../../kernel/ids.js';
import { ClaimHeld, type Claim } from './command-loop-types.js';
import {
  add,
  counter,
  loopOver,
  overridden,
  phone,
  type CauselessLoop,
} from '../../../test/support/event-store/counter.js';
import { InMemoryEventStore, type Memory } from '../../../test/support/in-memory-event-store.js';
import type { EventStore } from './port.js';

/** A store whose every call can be held up, to interleave two processes in any order. */
function scheduled(inner: EventStore, scheduler: fc.Scheduler): EventStore {
  return overridden(inner, {
    commit: async (commit) => {
      await scheduler.schedule(Promise.resolve(), 'commit');
      return inner.commit(commit);
    },
    readStream: async (...args) => {
      await scheduler.schedule(Promise.resolve(), 'read');
      return inner.readStream(...args);
    },
  });
}

describe.each([true, false])('a claim on a store that is atomic: %s', (atomic) => {
  let store: InMemoryEventStore;
  let loop: CauselessLoop;

  beforeEach(() => {
    store = new InMemoryEventStore(atomic);
    loop = loopOver(store);
  });

  it('wins a free one, keeps its own, and refuses one that another holds', async () => {
    await loop.execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
    await loop.execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
    const executing = loop.execute(counter, 'two', () => [add(1)], { claims: [phone('q'), phone('p')] });
    await expect(executing).rejects.toEqual(new ClaimHeld(phone('p'), 'counter-one'));
    expect((await loop.load(counter, 'two')).revision).toBeNull();
    // What the refused one claimed on its way is free for others.
    await loop.execute(counter, 'three', () => [add(1)], { claims: [phone('q')] });
  });

  it('costs one event to read, however often it changed hands', async () => {
    const hands = Array.from({ length: 500 }, () => {
      return { id: newId(), type: 'claim.taken.v1', data: { owner: 'counter-dead' }, metadata: {} };
    });
    await store.commit({ appends: [{ stream: 'phone-p', events: hands, expected: 'no_stream' }] });
    let read = 0;
    const counted = overridden(store, {
      readStream: async (...args) => {
        const events = await store.readStream(...args);
        read += events.length;
        return events;
      },
    });
    await loopOver(counted).execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
    expect(read).toBeLessThan(10);
  });

  it('takes over from an owner who died before its first event, and fences it', async () => {
    const held = { id: newId(), type: 'claim.taken.v1', data: { owner: 'counter-dead' }, metadata: {} };
    await store.commit({ appends: [{ stream: 'phone-p', events: [held], expected: 'no_stream' }] });
    await loop.execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
    expect(await loop.load(counter, 'dead')).toEqual({ state: 0, revision: 0, lastId: null });
    const late = loop.execute(counter, 'dead', () => [add(1)], { claims: [phone('p')], expectNew: true });
    await expect(late).rejects.toEqual(new ClaimHeld(phone('p'), 'counter-one'));
    // Without the claim it may still begin.
    expect((await loop.execute(counter, 'dead', () => [add(1)])).state).toBe(1);
  });

  it('goes to the slow owner who comes back between its fence and the rival that is about to take over', async () => {
    const held = { id: newId(), type: 'claim.taken.v1', data: { owner: 'counter-slow' }, metadata: {} };
    await store.commit({ appends: [{ stream: 'phone-p', events: [held], expected: 'no_stream' }] });
    let comesBack: Promise<unknown> | null = null;
    const rival = overridden(store, {
      commit: async (commit) => {
        const takesOver = commit.appends.some(
          ({ stream, expected }) => stream === 'phone-p' && expected === 0,
        );
        if (takesOver) {
          comesBack ??= loop.execute(counter, 'slow', () => [add(1)], { claims: [phone('p')] });
          await comesBack;
        }
        return store.commit(commit);
      },
    });
    const executing = loopOver(rival).execute(counter, 'rival', () => [add(1)], { claims: [phone('p')] });
    await expect(executing).rejects.toEqual(new ClaimHeld(phone('p'), 'counter-slow'));
    expect((await loop.load(counter, 'slow')).state).toBe(1);
    expect((await loop.load(counter, 'rival')).state).toBe(0);
  });

  describe('that an event of the holder frees', () => {
    const freed = (key: string): Claim => ({ ...phone(key), freedBy: 'counter.added.v1' });

    it('is taken over from a holder with that event, and never from one without', async () => {
      await loop.execute(counter, 'one', () => [add(1)], { claims: [freed('p')] });
      const other = { ...freed('p'), freedBy: 'counter.closed.v1' };
      const refused = loop.execute(counter, 'two', () => [add(1)], { claims: [other] });
      await expect(refused).rejects.toEqual(new ClaimHeld(other, 'counter-one'));
      for (const id of ['two', 'three']) {
        const options = { claims: [freed('p')], expectNew: true };
        expect((await loop.execute(counter, id, () => [add(1)], options)).state).toBe(1);
      }
      const [last] = await store.readStream('phone-p', { lastOnly: true });
      expect(last).toMatchObject({ revision: 2, data: { owner: 'counter-three' } });
    });
  });

  it.each([false, true])(
    'has one established owner, freed before: %s, however calls of rivals interleave and die',
    async (freed) => {
      // The former holder may end at any time of the race.
      const claim: Claim = { ...phone('p'), ...(freed ? { freedBy: 'counter.closed.v1' } : {}) };
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 3 }),
          async (scheduler, lifetimes) => {
            const memory: Memory = { events: [], responses: new Map() };
            const inner = new InMemoryEventStore(atomic, memory);
            if (freed) await loopOver(inner).execute(counter, 'before', () => [add(1)], { claims: [claim] });
            const mortal = (calls: number): EventStore => {
              let left = calls;
              const through = scheduled(inner, scheduler);
              return overridden(through, {
                commit: async (commit) => {
                  if (left === 0) throw new Error('killed');
                  left -= 1;
                  return through.commit(commit);
                },
              });
            };
            const ends = async (): Promise<void> => {
              const closed = { id: newId(), type: 'counter.closed.v1', data: {}, metadata: {} };
              const append = { stream: 'counter-before', events: [closed], expected: 'any' } as const;
              await scheduled(inner, scheduler).commit({ appends: [append] });
            };
            const race = Promise.allSettled([
              ...lifetimes.map((calls, n) =>
                loopOver(mortal(calls)).execute(
                  counter,
                  `rival${n}`,
                  (state) => (state === 0 ? [add(1)] : []),
                  { claims: [claim], expectNew: true },
                ),
              ),
              ...(freed ? [ends()] : []),
            ]);
            await scheduler.waitFor(race);
            const established = await Promise.all(
              lifetimes.map((_, n) => loopOver(inner).load(counter, `rival${n}`)),
            );
            expect(established.filter(({ state }) => state > 0).length).toBeLessThanOrEqual(1);
            // A claim is never lost for good: a later writer gets it, or learns who has it.
            const later = await loopOver(inner)
              .execute(counter, 'later', () => [add(1)], { claims: [claim] })
              .catch((error: unknown) => error);
            const holder = established.findIndex(({ state }) => state > 0);
            if (holder >= 0) expect(later).toEqual(new ClaimHeld(claim, `counter-rival${holder}`));
            else expect(later).toMatchObject({ state: 1 });
          },
        ),
        { numRuns: 300 },
      );
    },
  );
});
