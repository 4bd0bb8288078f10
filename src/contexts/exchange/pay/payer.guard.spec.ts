import { describe, expect, it } from '@jest/globals';
import type { Clock } from '../../../kernel/clock.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { exchangeConfig } from '../exchange.config.js';
import { type PayerSession, PaySessions } from './payer.guard.js';

const payer: PayerSession = {
  key_id: '4d5d2f0a-7a2e-4a55-9c6d-0d9f3a6b1c2e',
  withdraw_address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  withdraw_address_tag: null,
  withdraw_address_memo: '77|"\u2028',
  user_id: 'ü'.repeat(255),
  secret_hash: '0123456789abcdef0123456789abcdef',
};
const HOUR_MS = 3_600_000;
let now = Date.UTC(2026, 0, 1);
const clock: Clock = { now: () => new Date(now) };
const sessionsWith = (key: string) =>
  new PaySessions(clock, exchangeConfig({}), new KeyedHash(Buffer.from(key)));
const sessions = sessionsWith('key');

describe('the session of a pay page', () => {
  it('returns the payer for 26 h, until the latest possible order of the page has ended', () => {
    const token = sessions.open(payer);
    now += 26 * HOUR_MS - 1;
    expect(sessions.read(token)).toEqual(payer);
    now += 1;
    expect(sessions.read(token)).toBeNull();
  });

  it('cannot be forged, changed or extended without the key', () => {
    const [encoded = '', expires = '', hash = ''] = sessions.open(payer).split('.');
    const other = { ...payer, withdraw_address: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin' };
    const [otherEncoded = ''] = sessions.open(other).split('.');
    const forged = [
      `${otherEncoded}.${expires}.${hash}`,
      `${encoded}.${Number(expires) + 1}.${hash}`,
      `${encoded}.${expires}.${hash.slice(0, -1)}`,
      `${encoded}.${expires}.${'0'.repeat(64)}`,
      `${encoded}${expires}.${hash}`,
      sessionsWith('another').open(payer),
      ...['', '...', 'x', '0'.repeat(100_000)],
    ];
    for (const token of forged) expect([token, sessions.read(token)]).toEqual([token, null]);
  });

  it('has a link id that differs between payers and does not depend on the signing secret', () => {
    const others: Partial<PayerSession>[] = [
      { key_id: '4d5d2f0a-7a2e-4a55-9c6d-0d9f3a6b1c2f' },
      { withdraw_address_memo: null, withdraw_address_tag: payer.withdraw_address_memo },
      { user_id: null },
    ];
    const links = [{}, ...others].map((more) => sessions.link({ ...payer, ...more }));
    expect(new Set(links).size).toBe(4);
    const ofOtherSecret: PayerSession = { ...payer, secret_hash: null };
    expect(sessions.link(ofOtherSecret)).toBe(links[0]);
  });
});
