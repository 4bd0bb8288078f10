import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { OnboardingSessions } from './onboarding-session.guard.js';

const HOUR_MS = 3_600_000;

describe('the onboarding session that a code opens', () => {
  let now = Date.parse('2026-11-22T12:00:00.000Z');
  const sessions = new OnboardingSessions({ now: () => new Date(now) }, new KeyedHash(randomBytes(32)));

  it('ends an hour after the code was entered', () => {
    const token = sessions.open('u1');
    now += HOUR_MS - 1;
    expect(sessions.read(token)).toBe('u1');
    now += 1;
    expect(sessions.read(token)).toBeNull();
  });
});
