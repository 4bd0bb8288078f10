import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { onTestDatabase, responsesIn } from '../../../test/support/postgres.js';
import { systemClock, type Clock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { ResponseStore } from './response-store.js';
import type { StoredResponse } from '../event-store/port.js';
import { Sealer } from '../sealing/sealer.js';

const DAY_MS = 86_400_000;

describe('the store of responses', () => {
  const test = onTestDatabase();

  const sealer = new Sealer(randomBytes(32));
  const ofAProcess = (clock: Clock = systemClock): ResponseStore =>
    new ResponseStore(responsesIn(test.pool), test.database, clock, sealer);
  const response = (body = 'body'): StoredResponse => {
    return { scope: newId(), key: newId(), fingerprint: 'POST /users', status: 422, body };
  };

  it('keeps the first response under a key, byte for byte, and returns it to every later request', async () => {
    const first = response('{"é":"\\u0000","n":1.50}');
    expect(await ofAProcess().storeOrGet(first)).toBeNull();
    expect(await ofAProcess().storeOrGet({ ...first, body: 'later', status: 201 })).toEqual(first);
    expect(await ofAProcess().find(first.scope, first.key)).toEqual(first);
  });

  it('separates the same key of two merchants, and has no response for other keys', async () => {
    const [one, other] = [response('one'), response('other')];
    const store = ofAProcess();
    await store.storeOrGet(one);
    expect(await store.storeOrGet({ ...other, key: one.key })).toBeNull();
    expect(await store.find(other.scope, one.key)).toMatchObject({ body: 'other' });
    expect(await store.find(other.scope, other.key)).toBeNull();
  });

  it('deletes responses after 30 days, and not before', async () => {
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

  it('deletes a response after 31 days, and none early in a process whose clock is ahead', async () => {
    const store = ofAProcess();
    const kept = response();
    await store.storeOrGet(kept);
    const ahead = { now: () => new Date(Date.now() + 60 * DAY_MS) };
    await ofAProcess(ahead).purge();
    expect(await store.find(kept.scope, kept.key)).toEqual(kept);
    await test.pool.query(
      "update event_store.responses set created_at = created_at - interval '31 days' where key = $1",
      [kept.key],
    );
    await ofAProcess(ahead).purge();
    expect(await store.find(kept.scope, kept.key)).toBeNull();
  });
});
