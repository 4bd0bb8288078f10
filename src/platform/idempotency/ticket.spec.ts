import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { StoredResponse } from '../event-store/port.js';
import { Sealer } from '../sealing/sealer.js';
import { ResponseSeal } from './ticket.js';

describe('a stored response', () => {
  const time = { now: 1000 };
  const seal = new ResponseSeal(new Sealer(randomBytes(32)), () => time.now);
  const response = { scope: 'm', key: 'k', fingerprint: 'POST /users', status: 201, body: '{"secret":"s"}' };

  it.each<[string, Partial<StoredResponse>]>([
    ['another body', { body: '{"secret":"x"}' }],
    ['another status', { status: 200 }],
    ['another key', { key: 'l' }],
    ['another merchant', { scope: 'n' }],
  ])('cannot be opened with %s, whether in clear or sealed', (_, change) => {
    expect([seal.open(seal.authenticate(response)), seal.open(seal.seal(response))]).toEqual([
      response,
      response,
    ]);
    const { body } = seal.authenticate(response);
    const changed = { ...response, body, ...change };
    const [mac] = body.split('\n');
    expect(() => seal.open({ ...changed, ...(change.body && { body: `${mac}\n${change.body}` }) })).toThrow();
    expect(() => seal.open({ ...seal.seal(response), ...change })).toThrow();
  });

  it('contains its secret until the given time and null afterwards', () => {
    const stored = seal.seal(response, 2000);
    time.now = 1999;
    expect(seal.open(stored).body).toBe(response.body);
    time.now = 2000;
    expect(seal.open(stored).body).toBe('{"secret":null}');
  });
});
