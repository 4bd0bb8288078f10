import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../../kernel/ids.js';
import { AlreadyResponded, ClaimHeld, type Claim } from './command-loop-types.js';
import {
  add,
  counter,
  loopOver,
  overridden,
  phone,
  scheduled,
  type CauselessLoop,
} from '../../../test/support/event-store/counter.js';
import { InMemoryEventStore, type Memory } from '../../../test/support/in-memory-event-store.js';
import { commandConflicts } from '../telemetry/metrics.js';
import type { EventStore, NewEvent, StoredResponse } from './port.js';

describe.each([true, false])('the command loop on a store that is atomic: %s', (atomic) => {
  let store: InMemoryEventStore;
  let loop: CauselessLoop;

  beforeEach(() => {
    store = new InMemoryEventStore(atomic);
    loop = loopOver(store);
  });

  it('records the last event of the stream as the cause of new events', async () => {
    const metadata = { actor: 'test' };
    await loop.execute(counter, 'one', () => [add(1)], { metadata, follows: true });
    await loop.execute(counter, 'one', () => [add(2), add(3)], { metadata, follows: true });
    await loop.execute(counter, 'one', () => [add(4)], { metadata });
    const [first, ...later] = await store.readStream('counter-one');
    expect(first!.metadata).toEqual(metadata);
    const following = { ...metadata, causation_id: first!.id };
    expect(later.map((event) => event.metadata)).toEqual([following, following, metadata]);
  });

  it('returns the new state, the new events, their position and the id of the last event', async () => {
    await loop.execute(counter, 'one', () => [add(1), add(2)]);
    const executed = await loop.execute(counter, 'one', (state) => [add(state * 10)]);
    expect(executed).toMatchObject({ state: 33, events: [add(30)], position: '3' });
    const lastId = (await store.readStream('counter-one')).at(-1)!.id;
    expect(executed.lastId).toBe(lastId);
    expect(await loop.load(counter, 'one')).toEqual({ state: 33, revision: 2, lastId });
    expect(await loop.load(counter, 'none')).toEqual({ state: 0, revision: null, lastId: null });
  });

  it('writes nothing if the decision returns no events', async () => {
    const nothing = { state: 0, body: '', events: [], position: null, lastId: null };
    expect(await loop.execute(counter, 'one', () => [])).toEqual(nothing);
    expect(await store.head()).toBeNull();
  });

  it('decides again on the new state if another command was faster, and counts the conflict', async () => {
    commandConflicts.reset();
    let interfered = false;
    const meddled = overridden(store, {
      commit: async (commit) => {
        if (!interfered) {
          interfered = true;
          await loop.execute(counter, 'one', () => [add(5)]);
        }
        return store.commit(commit);
      },
    });
    const other = loopOver(meddled);
    const executed = await other.execute(counter, 'one', (state) => [add(state + 1)]);
    expect(executed.state).toBe(11);
    expect((await commandConflicts.get()).values).toEqual([{ labels: { category: 'counter' }, value: 1 }]);
  });

  describe('with an aggregate that is expected to be new', () => {
    it('does not load the aggregate', async () => {
      const blind = overridden(store, {
        readStream: async () => {
          throw new Error('loaded');
        },
      });
      const executed = await loopOver(blind).execute(counter, 'one', () => [add(1)], {
        expectNew: true,
      });
      expect(executed.state).toBe(1);
    });

    it('decides on the stored state if the first decision threw, conflicted or had no events', async () => {
      await loop.execute(counter, 'one', () => [add(7)]);
      const again = await loop.execute(counter, 'one', (state) => [add(state)], { expectNew: true });
      expect(again.state).toBe(14);
      const refuse = (state: number): [] => {
        if (state === 0) throw new Error('not yet');
        return [];
      };
      const refusing = await loop.execute(counter, 'one', refuse, { expectNew: true });
      expect(refusing).toMatchObject({ state: 14, events: [], position: null });
    });
  });

  it('reads its preconditions at each attempt, and is unavailable if no attempt meets them', async () => {
    await loop.execute(counter, 'other', () => [add(1)]);
    const read: number[] = [];
    const execute = (expected: (attempt: number) => number): Promise<unknown> =>
      loop.execute(counter, 'one', () => [add(1)], {
        expectNew: true,
        preconditions: async (attempt: number) => {
          read.push(attempt);
          return [{ stream: 'counter-other', events: [], expected: expected(attempt) }];
        },
      });
    await execute((attempt) => (attempt < 2 ? 4 : 0));
    expect(read).toEqual([0, 1, 2]);
    await expect(execute(() => 4)).rejects.toMatchObject({ name: 'DomainError', code: 'unavailable' });
    expect((await loop.load(counter, 'one')).state).toBe(1);
  });

  describe('with events of a newer version', () => {
    const unknown = { id: newId(), type: 'counter.reset.v1', data: {}, metadata: {} };
    const refusal = { code: 'unavailable', message: expect.stringContaining('counter.reset.v1') };
    /** Appends the event of a newer version. */
    const newer = async (stream: string, ...events: NewEvent[]): Promise<void> => {
      const expected = (await store.readStream(stream)).at(-1)?.revision ?? 'no_stream';
      await store.commit({ appends: [{ stream, events, expected }] });
    };

    it('refuses commands as unavailable and loads the known events for display', async () => {
      await loop.execute(counter, 'one', () => [add(2)]);
      await newer('counter-one', unknown);
      await expect(loop.execute(counter, 'one', (state) => [add(state)])).rejects.toMatchObject(refusal);
      await expect(loop.load(counter, 'one')).rejects.toMatchObject(refusal);
      expect(await loop.loadForDisplay(counter, 'one')).toBe(2);
      expect(await store.readStream('counter-one')).toHaveLength(2);
    });

    it('does not treat a stream as new if its first event is of the newer version', async () => {
      await newer('counter-one', unknown);
      await expect(loop.loadForDisplay(counter, 'one')).rejects.toMatchObject(refusal);
      const assumed = loop.execute(counter, 'one', () => [add(1)], { expectNew: true });
      await expect(assumed).rejects.toMatchObject(refusal);
      expect(await loop.loadForDisplay(counter, 'none')).toBe(0);
    });

    it('refuses a command as unavailable if the last event of its claim has an unknown type', async () => {
      await newer('phone-p', { ...unknown, type: 'claim.lent.v1' });
      const claiming = loop.execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
      await expect(claiming).rejects.toMatchObject({ code: 'unavailable' });
      expect(await store.readStream('counter-one')).toEqual([]);
    });
  });

  it('returns the response body, and an atomic store commits the response even without events', async () => {
    const place = { scope: 'm', key: newId(), fingerprint: 'f' };
    const under = (key: string) => ({
      response: {
        ticket: {
          response: (status: number, body: string): StoredResponse => ({ ...place, key, status, body }),
        },
        status: 201,
        body: (state: number) => `state ${state}`,
      },
    });
    const { body } = await loop.execute(counter, 'one', () => [add(3)], under(place.key));
    expect(body).toBe('state 3');
    if (!atomic) return;
    const again = loop.execute(counter, 'two', () => [add(1)], under(place.key));
    await expect(again).rejects.toEqual(new AlreadyResponded({ ...place, status: 201, body }));
    const key = newId();
    await loop.execute(counter, 'one', () => [], under(key));
    const repeated = loop.execute(counter, 'one', () => [], under(key));
    await expect(repeated).rejects.toEqual(new AlreadyResponded({ ...place, key, status: 201, body }));
  });

  describe('with a claim', () => {
    const claimed = async (owner: string, times = 1): Promise<void> => {
      const events = Array.from({ length: times }, (): NewEvent => {
        return { id: newId(), type: 'claim.taken.v1', data: { owner }, metadata: {} };
      });
      await store.commit({ appends: [{ stream: 'phone-p', events, expected: 'no_stream' }] });
    };

    it('acquires a free claim, keeps its own claim, and is refused a claim of another stream', async () => {
      await loop.execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
      await loop.execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
      const executing = loop.execute(counter, 'two', () => [add(1)], { claims: [phone('q'), phone('p')] });
      await expect(executing).rejects.toEqual(new ClaimHeld(phone('p'), 'counter-one'));
      expect((await loop.load(counter, 'two')).revision).toBeNull();
      // The claims of the refused stream are free for others.
      await loop.execute(counter, 'three', () => [add(1)], { claims: [phone('q')] });
    });

    it('reads fewer than 10 events for a claim that was acquired 500 times', async () => {
      await claimed('counter-dead', 500);
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

    it('takes over the claim of an owner that died before its first event, and fences that owner', async () => {
      await claimed('counter-dead');
      await loop.execute(counter, 'one', () => [add(1)], { claims: [phone('p')] });
      expect(await loop.load(counter, 'dead')).toEqual({ state: 0, revision: 0, lastId: null });
      const late = loop.execute(counter, 'dead', () => [add(1)], { claims: [phone('p')], expectNew: true });
      await expect(late).rejects.toEqual(new ClaimHeld(phone('p'), 'counter-one'));
      // The fenced stream may begin without the claim.
      expect((await loop.execute(counter, 'dead', () => [add(1)])).state).toBe(1);
    });

    it('does not take over a claim whose slow owner writes between the fence and the takeover', async () => {
      await claimed('counter-slow');
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

    it('takes over a held claim only if its holder has the event that frees the claim', async () => {
      const freed = (key: string): Claim => ({ ...phone(key), freedBy: 'counter.added.v1' });
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

    it.each([false, true])(
      'lets at most one of three rivals get a claim, however they interleave and die (earlier holder: %s)',
      async (freed) => {
        // The former holder may end at any time of the race.
        const claim: Claim = { ...phone('p'), ...(freed ? { freedBy: 'counter.closed.v1' } : {}) };
        const begin = (state: number) => (state === 0 ? [add(1)] : []);
        await fc.assert(
          fc.asyncProperty(
            fc.scheduler(),
            fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 3 }),
            async (scheduler, lifetimes) => {
              const memory: Memory = { events: [], responses: new Map() };
              const inner = new InMemoryEventStore(atomic, memory);
              if (freed)
                await loopOver(inner).execute(counter, 'before', () => [add(1)], { claims: [claim] });
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
                const append = { stream: 'counter-before', events: [closed], expected: 0 };
                await scheduled(inner, scheduler).commit({ appends: [append] });
              };
              const race = Promise.allSettled([
                ...lifetimes.map((calls, n) =>
                  loopOver(mortal(calls)).execute(counter, `rival${n}`, begin, {
                    claims: [claim],
                    expectNew: true,
                  }),
                ),
                ...(freed ? [ends()] : []),
              ]);
              await scheduler.waitFor(race);
              const established = await Promise.all(
                lifetimes.map((_, n) => loopOver(inner).load(counter, `rival${n}`)),
              );
              expect(established.filter(({ state }) => state > 0).length).toBeLessThanOrEqual(1);
              // No claim is lost: a later writer gets it, or the id of its holder.
              const later = await loopOver(inner)
                .execute(counter, 'later', () => [add(1)], { claims: [claim] })
                .catch((error: unknown) => error);
              const holder = established.findIndex(({ state }) => state > 0);
              if (holder >= 0) expect(later).toEqual(new ClaimHeld(claim, `counter-rival${holder}`));
              else expect(later).toMatchObject({ state: 1 });
            },
          ),
          { numRuns: Number(process.env['CLAIM_RUNS'] ?? 100) },
        );
      },
    );
  });
});
