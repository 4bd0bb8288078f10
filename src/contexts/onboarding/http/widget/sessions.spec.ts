import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import { WidgetSessions } from './sessions.js';

const HOUR_MS = 3_600_000;

describe('the session that a code opens', () => {
  let now = Date.parse('2026-11-22T12:00:00.000Z');
  const key = randomBytes(32);
  const sessions = new WidgetSessions({ now: () => new Date(now) }, new KeyedHash(key));

  it('ends an hour after the code was entered', () => {
    const token = sessions.open('u1');
    now += HOUR_MS - 1;
    expect(sessions.isOpen('u1', token)).toBe(true);
    now += 1;
    expect(sessions.isOpen('u1', token)).toBe(false);
    expect(() => sessions.require('u1', token)).toThrow(
      expect.objectContaining({ code: 'forbidden', fields: { session: ['has ended'] } }),
    );
  });

  it('is of one user, and of nobody who changes its end or has another key', () => {
    const token = sessions.open('u1');
    const [expires, hash] = token.split('.') as [string, string];
    const other = new WidgetSessions({ now: () => new Date(now) }, new KeyedHash(randomBytes(32)));
    for (const [userId, given] of [
      ['u2', token],
      ['u1', `${Number(expires) + HOUR_MS}.${hash}`],
      ['u1', other.open('u1')],
      ['u1', `${expires}.`],
      ['u1', `${expires}.${hash}0`],
      ['u1', hash],
      ['u1', ''],
    ] as const)
      expect([given, sessions.isOpen(userId, given)]).toEqual([given, false]);
    expect(sessions.isOpen('u1', token)).toBe(true);
  });
});
