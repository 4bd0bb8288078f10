import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newId } from '../../kernel/ids.js';
import { IdempotencyKeyExpired } from '../../kernel/idempotency.js';
import type { StoredResponse } from '../event-store/port.js';
import { Sealer } from '../sealing/sealer.js';
import { Idempotency } from './idempotency.js';
import type { ResponseStore } from './response-store.js';
import { fingerprintOf, parseIdempotencyKey, RequestTicket, withIdempotencyKey } from './ticket.js';

const BODY = Buffer.from('{"amount":"5.00"}');
const REQUEST = { method: 'POST', path: '/merchants/v1/users', body: BODY };

/** Responses as PostgreSQL keeps them: the first under a scope and key stays. */
function idempotency({ carriesResponses = true } = {}) {
  const kept = new Map<string, StoredResponse>();
  const store = {
    find: async (scope: string, key: string) => kept.get(scope + key) ?? null,
    storeOrGet: async (response: StoredResponse) => {
      const name = response.scope + response.key;
      const first = kept.get(name);
      if (first === undefined) kept.set(name, response);
      return first ?? null;
    },
  };
  const guard = new Idempotency(
    store as unknown as ResponseStore,
    { carriesResponses },
    new Sealer(randomBytes(32)),
  );
  const ticketOf = (merchant: string, key: string, request = REQUEST): RequestTicket => {
    const ticket = guard.acquire(merchant, key, request);
    if (!(ticket instanceof RequestTicket)) throw new Error(ticket);
    return ticket;
  };
  return { guard, kept, ticketOf };
}

describe('ids under an Idempotency-Key', () => {
  const [merchant, other, key] = [newId(), newId(), newId()];
  const ticket = (scope: string, under: string | null = key): RequestTicket =>
    new RequestTicket(scope, under, 'fingerprint');

  it('are the same for a repeat, and others for another merchant, key or purpose, and without a key', () => {
    const others = [ticket(other), ticket(merchant, newId()), ticket(merchant, null), ticket(merchant, null)];
    const ids = [
      ticket(merchant).id('payout'),
      ...[ticket(merchant), ...others].map((each) => each.id('user')),
    ];
    expect(new Set(ids).size).toBe(6);
    expect(ticket(merchant).id('payout')).toBe(ids[0]);
    expect(others.map((each) => each.id('user'))).toEqual(ids.slice(2));
    expect(ticket(merchant, null).response(201, 'created')).toBeUndefined();
  });

  it('a key that has outlived its response creates the next user, and a repeat finds that one again', async () => {
    const used = ticket(merchant).id('user');
    const create = () =>
      withIdempotencyKey(ticket(merchant), 'user', async (id) => {
        if (id === used) throw new IdempotencyKeyExpired();
        return id;
      });
    const created = await create();
    expect(created).not.toBe(used);
    expect(await create()).toBe(created);
    const refused = new Error('refused');
    await expect(withIdempotencyKey(ticket(merchant), 'user', () => Promise.reject(refused))).rejects.toBe(
      refused,
    );
  });
});

describe('a request under an Idempotency-Key', () => {
  const [merchant, other, key] = [newId(), newId(), newId()];

  it('is refused while one under its key is in flight, and names another operation under the key', () => {
    const { guard, ticketOf } = idempotency();
    const first = ticketOf(merchant, key);
    expect(guard.acquire(merchant, key, REQUEST)).toBe('in_flight');
    for (const change of [{ method: 'PATCH' }, { path: '/x' }, { body: Buffer.from('{}') }])
      expect(guard.acquire(merchant, key, { ...REQUEST, ...change })).toBe('mismatch');
    ticketOf(other, key);
    guard.release(new RequestTicket(merchant, key, 'a later one'));
    expect(guard.acquire(merchant, key, REQUEST)).toBe('in_flight');
    guard.release(first);
    ticketOf(merchant, key);
  });

  it('a response that travelled with the commit is not stored again; another status or body is', async () => {
    const { guard, kept, ticketOf } = idempotency();
    const ticket = ticketOf(merchant, key);
    ticket.response(201, 'created');
    expect(await guard.settle(ticket, 201, 'created')).toBeNull();
    expect(kept.size).toBe(0);
    expect(await guard.settle(ticket, 201, 'another text')).toBeNull();
    const [stored] = [...kept.values()];
    const { fingerprint } = ticket;
    expect(stored).toMatchObject({ scope: merchant, key, fingerprint, status: 201 });
    expect(ticket.openBody(stored!)).toBe('another text');
    const next = ticketOf(merchant, newId());
    next.response(201, 'created');
    await guard.settle(next, 422, 'created');
    expect(kept.size).toBe(2);
  });

  it('a response that was offered is stored where commits carry none', async () => {
    const { guard, kept, ticketOf } = idempotency({ carriesResponses: false });
    const ticket = ticketOf(merchant, key);
    ticket.response(201, 'created');
    expect(await guard.settle(ticket, 201, 'created')).toBeNull();
    expect(kept.size).toBe(1);
    const first = await guard.settle(ticket, 201, 'created');
    expect([first!.status, ticket.openBody(first!)]).toEqual([201, 'created']);
    expect(await guard.findStored(ticket)).toEqual(first);
    expect(await guard.findStored(new RequestTicket(merchant, null, 'without a key'))).toBeNull();
  });

  it.each([401, 413, 429, 500, 503, 403, 404, 409])('%i is not kept: a repeat runs again', async (status) => {
    const { guard, kept, ticketOf } = idempotency();
    expect(await guard.settle(ticketOf(merchant, key), status, 'refused')).toBeNull();
    expect(kept.size).toBe(0);
  });

  it.each([403, 404, 409])('%i gives way to the 201 of a repeat in another process', async (status) => {
    const { guard, ticketOf } = idempotency();
    const ticket = ticketOf(merchant, key);
    await guard.settle(ticket, 201, 'created');
    const given = await guard.settle(ticket, status, 'refused');
    expect([given!.status, ticket.openBody(given!)]).toEqual([201, 'created']);
    expect(await guard.settle(ticket, 503, 'busy')).toBeNull();
  });

  it.each([200, 201, 204, 400, 422, 499])('%i is kept, without a key nothing is', async (status) => {
    const { guard, kept, ticketOf } = idempotency();
    await guard.settle(new RequestTicket(merchant, null, 'without a key'), status, 'done');
    expect(kept.size).toBe(0);
    await guard.settle(ticketOf(merchant, key), status, 'done');
    expect(kept.size).toBe(1);
  });

  it('a secret is stored sealed and opened for the merchant, whichever response was said to hold it', async () => {
    const { guard, kept, ticketOf } = idempotency();
    const ticket = ticketOf(merchant, key);
    expect(ticket.response(201, 'whsec_secret', { holdsSecret: true })!.body).not.toContain('whsec');
    await guard.settle(ticket, 200, 'whsec_other');
    const [stored] = [...kept.values()];
    expect(stored!.body).not.toContain('whsec');
    expect(ticket.openBody(stored!)).toBe('whsec_other');
    const personal = ticketOf(merchant, newId());
    personal.storeSealed();
    expect(personal.response(201, '+15550100')!.body).not.toContain('+1555');
    expect(() => new RequestTicket(merchant, key, '').response(201, '', { holdsSecret: true })).toThrow(
      'seal',
    );
    const unsealed = new RequestTicket(merchant, key, '');
    expect(unsealed.openBody({ ...stored!, body: 'clear' })).toBe('clear');
    expect(unsealed.response(201, 'clear')!.body).toBe('clear');
  });
});

describe('the Idempotency-Key header', () => {
  const key = newId();

  it('is a uuid in quotes, in any case', () => {
    expect(parseIdempotencyKey(`"${key.toUpperCase()}"`)).toBe(key);
  });

  it.each([
    key,
    `"${key}`,
    `${key}"`,
    `'${key}'`,
    `"${key}" `,
    `"${key.slice(1)}g"`,
    `x${key}"`,
    `"${key}x`,
    '""',
  ])('is not %s', (header) => {
    expect(parseIdempotencyKey(header)).toBeNull();
  });

  it('is compared by a fingerprint of method, path and every byte of the body', () => {
    const requests: [string, string, string][] = [
      ['POST', '/users', '{}'],
      ['PATCH', '/users', '{}'],
      ['POST', '/user', '{}'],
      ['POST', '/users', '{ }'],
    ];
    const prints = requests.map(([method, path, body]) => fingerprintOf(method, path, Buffer.from(body)));
    expect(new Set(prints).size).toBe(4);
    expect(fingerprintOf('POST', '/users', Buffer.from('{}'))).toBe(prints[0]);
  });
});
