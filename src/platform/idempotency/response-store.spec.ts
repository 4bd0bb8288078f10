import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { onTestDatabase, responsesIn } from '../../../test/support/postgres.js';
import { DAY_MS, systemClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { ResponseStore } from './response-store.js';
import type { StoredResponse } from '../event-store/port.js';
import { Sealer } from '../sealing/sealer.js';
import { ResponseSeal } from './ticket.js';

describe('the store of responses', () => {
  const test = onTestDatabase();

  const sealer = new Sealer(randomBytes(32));
  const ofAProcess = ({ clock = systemClock, by = sealer } = {}): ResponseStore =>
    new ResponseStore(responsesIn(test.pool), test.database, clock, by);
  const response = (body = 'body'): StoredResponse => {
    return { scope: newId(), key: newId(), fingerprint: 'POST /users', status: 422, body };
  };

  it('retains the first response under a key byte for byte and returns it to every later request', async () => {
    const first = response('{"é":"\\u0000","n":1.50}');
    expect(await ofAProcess().storeOrGet(first)).toBeNull();
    expect(await ofAProcess().storeOrGet({ ...first, body: 'later', status: 201 })).toEqual(first);
    expect(await ofAProcess().find(first.scope, first.key)).toEqual(first);
  });

  it('separates the same key of two merchants and has no response for other keys', async () => {
    const [one, other] = [response('one'), response('other')];
    const store = ofAProcess();
    await store.storeOrGet(one);
    expect(await store.storeOrGet({ ...other, key: one.key })).toBeNull();
    expect(await store.find(other.scope, one.key)).toMatchObject({ body: 'other' });
    expect(await store.find(other.scope, other.key)).toBeNull();
  });

  it('deletes responses after 30 days and not before', async () => {
    const store = ofAProcess();
    const old = response();
    await store.storeOrGet(old);
    const { rows } = await test.pool.query<{ at: Date }>(
      'select max(created_at) as at from event_store.responses',
    );
    const written = rows[0]!.at.getTime();
    expect(await store.purge(undefined, new Date(written + 30 * DAY_MS - 60_000))).toBe(0);
    expect(await store.purge(undefined, new Date(written + 30 * DAY_MS + 60_000))).toBeGreaterThan(0);
    expect(await store.find(old.scope, old.key)).toBeNull();
  });

  it('deletes no response early if the process clock is ahead, and deletes it after 31 days', async () => {
    const store = ofAProcess();
    const kept = response();
    await store.storeOrGet(kept);
    const clock = { now: () => new Date(Date.now() + 60 * DAY_MS) };
    await ofAProcess({ clock }).purge();
    expect(await store.find(kept.scope, kept.key)).toEqual(kept);
    await test.pool.query(
      "update event_store.responses set created_at = created_at - interval '31 days' where key = $1",
      [kept.key],
    );
    await ofAProcess({ clock }).purge();
    expect(await store.find(kept.scope, kept.key)).toBeNull();
  });

  describe('with responses that name a person', () => {
    const [merchant, other, userId] = [newId(), newId(), newId()];
    const now = (days = 0): string => new Date(Date.now() + days * DAY_MS).toISOString();

    /** Stores a response and returns its key. */
    async function stored(
      body: string,
      { scope = merchant, by = sealer, sealed = true } = {},
    ): Promise<string> {
      const response = { scope, key: newId(), fingerprint: 'POST /users', status: 201, body };
      const seal = new ResponseSeal(by);
      await ofAProcess().storeOrGet(sealed ? seal.seal(response) : response);
      return response.key;
    }
    const isKept = async (key: string, scope = merchant): Promise<boolean> =>
      (await ofAProcess().find(scope, key)) !== null;

    it('deletes only sealed responses of the merchant that name the person and can be opened', async () => {
      const gone = [
        await stored(`{"id":"${userId}"}`),
        await stored(`{"id":"${newId()}","user":"${userId}"}`),
      ];
      const stay = [
        await stored(`{"id":"${newId()}"}`),
        await stored(`{"id":"${userId}"}`, { sealed: false }),
        await stored(`{"id":"${userId}"}`, { by: new Sealer(randomBytes(32)) }),
      ];
      const others = await stored(`{"id":"${userId}"}`, { scope: other });
      expect(await ofAProcess().drop({ named: [userId], scope: merchant, since: now() })).toBe(true);
      expect(await Promise.all(gone.map((key) => isKept(key)))).toEqual([false, false]);
      expect(await Promise.all(stay.map((key) => isKept(key)))).toEqual([true, true, true]);
      expect(await isKept(others, other)).toBe(true);
    });

    it('fails the erasure after an unexpected error of the sealer, and a repeat succeeds', async () => {
      const key = await stored(`{"id":"${userId}"}`);
      const failing = new Sealer(randomBytes(32));
      failing.open = () => {
        throw new Error('out of memory');
      };
      const drop = (by: Sealer): Promise<boolean> =>
        ofAProcess({ by }).drop({ named: [userId], scope: merchant, since: now() });
      await expect(drop(failing)).rejects.toThrow('out of memory');
      expect(await isKept(key)).toBe(true);
      expect(await drop(sealer)).toBe(true);
      expect(await isKept(key)).toBe(false);
    });

    it('searches from one day before the creation of the person, because clocks may differ', async () => {
      const key = await stored(`{"id":"${userId}"}`);
      await ofAProcess().drop({ named: [userId], scope: merchant, since: now(1.1) });
      expect(await isKept(key)).toBe(true);
      await ofAProcess().drop({ named: [userId], scope: merchant, since: now(0.9) });
      expect(await isKept(key)).toBe(false);
    });

    it('finds a response after 500 others, unless the erasure is aborted first', async () => {
      const [crowded, person] = [newId(), newId()];
      await Promise.all(Array.from({ length: 500 }, () => stored('{"id":"somebody"}', { scope: crowded })));
      const key = await stored(`{"id":"${person}"}`, { scope: crowded });
      const drop = (signal?: AbortSignal): Promise<boolean> =>
        ofAProcess().drop({ named: [person], scope: crowded, since: now() }, signal);
      expect(await drop(AbortSignal.abort())).toBe(false);
      expect(await isKept(key, crowded)).toBe(true);
      expect(await drop()).toBe(true);
      expect(await isKept(key, crowded)).toBe(false);
    });
  });
});
