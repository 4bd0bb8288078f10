import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestDatabase, responsesIn } from '../../../test/support/postgres.js';
import { systemClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { Sealer } from '../sealing/sealer.js';
import { ResponseSeal } from './ticket.js';
import { ResponseStore } from './response-store.js';

const DAY_MS = 86_400_000;

describe('stored responses that name a person', () => {
  const sealer = new Sealer(randomBytes(32));
  const test = onTestDatabase();
  let store: ResponseStore;
  const storeWith = (by: Sealer): ResponseStore =>
    new ResponseStore(responsesIn(test.pool), test.database, systemClock, by);
  const [merchant, other, userId] = [newId(), newId(), newId()];
  const now = (days = 0): string => new Date(Date.now() + days * DAY_MS).toISOString();

  beforeAll(async () => {
    store = storeWith(sealer);
  });

  /** Stores a response and returns its key. */
  async function stored(
    body: string,
    { scope = merchant, by = sealer, sealed = true } = {},
  ): Promise<string> {
    const response = { scope, key: newId(), fingerprint: 'POST /users', status: 201, body };
    const seal = new ResponseSeal(by);
    await store.storeOrGet(sealed ? seal.seal(response) : response);
    return response.key;
  }
  const isKept = async (key: string, scope = merchant): Promise<boolean> =>
    (await store.find(scope, key)) !== null;

  it('are erased with the person; those of others, of other merchants and those that do not open remain', async () => {
    const gone = [await stored(`{"id":"${userId}"}`), await stored(`{"id":"${newId()}","user":"${userId}"}`)];
    const stay = [
      await stored(`{"id":"${newId()}"}`),
      await stored(`{"id":"${userId}"}`, { sealed: false }),
      await stored(`{"id":"${userId}"}`, { by: new Sealer(randomBytes(32)) }),
    ];
    const others = await stored(`{"id":"${userId}"}`, { scope: other });
    expect(await store.drop({ named: [userId], scope: merchant, since: now() })).toBe(true);
    expect(await Promise.all(gone.map((key) => isKept(key)))).toEqual([false, false]);
    expect(await Promise.all(stay.map((key) => isKept(key)))).toEqual([true, true, true]);
    expect(await isKept(others, other)).toBe(true);
  });

  it('fail the erasure where one cannot be opened, and a repeat succeeds', async () => {
    const key = await stored(`{"id":"${userId}"}`);
    const failing = new Sealer(randomBytes(32));
    failing.open = () => {
      throw new Error('out of memory');
    };
    const drop = (by: Sealer): Promise<boolean> =>
      storeWith(by).drop({ named: [userId], scope: merchant, since: now() });
    await expect(drop(failing)).rejects.toThrow('out of memory');
    expect(await isKept(key)).toBe(true);
    expect(await drop(sealer)).toBe(true);
    expect(await isKept(key)).toBe(false);
  });

  it('are searched from a day before the person was created: clocks may differ', async () => {
    const key = await stored(`{"id":"${userId}"}`);
    await store.drop({ named: [userId], scope: merchant, since: now(1.1) });
    expect(await isKept(key)).toBe(true);
    await store.drop({ named: [userId], scope: merchant, since: now(0.9) });
    expect(await isKept(key)).toBe(false);
  });

  it('are found behind five hundred others, unless the erasure is stopped before', async () => {
    const [crowded, person] = [newId(), newId()];
    await Promise.all(Array.from({ length: 500 }, () => stored('{"id":"somebody"}', { scope: crowded })));
    const key = await stored(`{"id":"${person}"}`, { scope: crowded });
    const drop = (signal?: AbortSignal): Promise<boolean> =>
      store.drop({ named: [person], scope: crowded, since: now() }, signal);
    expect(await drop(AbortSignal.abort())).toBe(false);
    expect(await isKept(key, crowded)).toBe(true);
    expect(await drop()).toBe(true);
    expect(await isKept(key, crowded)).toBe(false);
  });
});
