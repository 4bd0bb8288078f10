import { describe, expect, it } from '@jest/globals';
import { onrampUrl, readOnramps, SANDBOX_ONRAMPS, takes } from './onramps.service.js';

const GOOD = {
  id: 'pay-co',
  name: 'Pay & Co',
  url: 'https://pay.example/buy?to={withdraw_address}&pair={token}-{chain}&memo={withdraw_address_memo}&key=a%20b',
  fiats: [{ code: 'EUR', minimum: '20', maximum: '5000.50' }],
};

describe('the file of on-ramps', () => {
  const withFiat = (more: object) => [{ ...GOOD, fiats: [{ ...GOOD.fiats[0], ...more }] }];

  it('is read unchanged', () => {
    expect(readOnramps([GOOD])).toEqual([GOOD]);
    expect(readOnramps([])).toEqual([]);
  });

  it('is accepted with the on-ramps of the sandbox', () =>
    expect(readOnramps(SANDBOX_ONRAMPS)).toEqual(SANDBOX_ONRAMPS));

  it.each<[string, unknown, RegExp]>([
    ['no array', { ...GOOD }, /onramps must be an array/],
    ['51 on-ramps', Array.from({ length: 51 }, () => GOOD), /must contain at most 50/],
    ['an entry that is no object', [null], /onramps 0 must be an object/],
    ['an id in upper case', [{ ...GOOD, id: 'Pay' }], /onramps 0 id must be/],
    ['a script', [{ ...GOOD, url: 'javascript:alert(1)' }], /url must be an https:\/\/ URL/],
    ['a user in its URL', [{ ...GOOD, url: 'https://a@pay.example/' }], /must not contain a user name/],
    [
      'an unknown placeholder',
      [{ ...GOOD, url: 'https://a.example/?a={user_id}' }],
      /placeholder \{user_id\}/,
    ],
    ['a placeholder in its path', [{ ...GOOD, url: 'https://pay.example/{token}' }], /only in its query/],
    ['a malformed currency', withFiat({ code: 'euro' }), /fiats 0 code must be a code such as EUR/],
    ['a limit as a number', withFiat({ minimum: 1 }), /minimum must be a string/],
    ['a minimum above the maximum', withFiat({ minimum: '2', maximum: '1' }), /maximum for EUR/],
    ['no currency', [{ ...GOOD, fiats: [] }], /pay-co has no currency/],
    ['a repeated id', [GOOD, GOOD], /two on-ramps have the id pay-co/],
  ])('is refused with %s', (_, value, message) => expect(() => readOnramps(value)).toThrow(message));
});

describe('an on-ramp', () => {
  it.each<[string, string | null, string | null, boolean]>([
    ['a purchase without currency and amount', null, null, true],
    ['no other currency', 'USD', null, false],
    ['its minimum', 'EUR', '20', true],
    ['no amount below its minimum', 'EUR', '19.99', false],
    ['its maximum', 'EUR', '5000.50', true],
    ['no amount above its maximum', 'EUR', '5000.51', false],
    ['an amount within the limits of any currency', null, '20', true],
    ['no amount outside the limits of all currencies', null, '19', false],
  ])('accepts %s', (_, fiat, amount, is) => expect(takes(GOOD, { fiat, amount })).toBe(is));
});

describe('the URL of an on-ramp', () => {
  const purchase = { withdraw_address: 'A', token: 'sol', chain: 'solana' };

  it('contains the values of the purchase and omits parameters without a value', () =>
    expect(onrampUrl(GOOD, purchase)).toBe('https://pay.example/buy?to=A&pair=sol-solana&key=a+b'));

  it('escapes every value', () => {
    const hostile = { ...purchase, withdraw_address_memo: '1&to=B#{token}?/\u2028💥$&' };
    const { searchParams, hash } = new URL(onrampUrl(GOOD, hostile));
    expect(searchParams.getAll('to')).toEqual(['A']);
    expect(searchParams.get('memo')).toBe(hostile.withdraw_address_memo);
    expect(hash).toBe('');
  });
});
