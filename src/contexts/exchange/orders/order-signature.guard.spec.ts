import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readConfig } from '../../../composition.js';
import type { ExchangeCaller } from '../../access/access.contract.js';
import { isSignedQuery, openSignedQuery, signedLink, signedQuery } from './order-signature.guard.js';

const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const KEY_ID = '7b0b2a6e-5a0e-4a62-9a7b-5c1f0d6c3b11';
const EXPIRES = new Date(1_767_227_400_000);
const BEFORE = new Date(EXPIRES.getTime() - 1);

/**
 * Computed by openssl 3:
 *   openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:$SECRET_HEX -kdfopt hexsalt: \
 *     -kdfopt info:'exchange signed_url v1' -binary HKDF | xxd -p
 *   printf %s "$SORTED" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$KEY -hex
 * and again by Python's hmac, hashlib and urllib.parse.quote(text, safe='').
 */
const VECTOR = {
  secret: 's3cret of a key ü',
  nonce: 'AAECAwQFBgcICQoLDA0ODw',
  userId: "Zoë ('!*~) & co",
  sorted:
    `api_key=${KEY_ID}&expires=1767227400&nonce=AAECAwQFBgcICQoLDA0ODw` +
    `&user_id=Zo%C3%AB%20%28%27%21%2A~%29%20%26%20co&withdraw_address=${ADDRESS}`,
  signature: '5495d18ac8d93d607c5c71c6b45ea73e7f425cc8f5f545947aacf4b2cb3701a6',
};
const PARAMETERS = { api_key: KEY_ID, withdraw_address: ADDRESS, user_id: VECTOR.userId };
const SIGNING = { secret: VECTOR.secret, nonce: VECTOR.nonce, expiresAt: EXPIRES };

const signed = signedQuery({ ...PARAMETERS, withdraw_address_tag: undefined, onramp_fiat: null }, SIGNING);
const opened = (query: string, secrets = [VECTOR.secret], now = BEFORE) =>
  openSignedQuery(query, secrets, now)?.parameters ?? null;

describe('a signed link to the pay widget', () => {
  it('has the signature that openssl and Python compute', () => {
    const pairs = signed.split('&');
    expect(pairs.at(-1)).toBe(`url_signature=${VECTOR.signature}`);
    expect(pairs.slice(0, -1).sort().join('&')).toBe(VECTOR.sorted);
  });

  it('can be opened any number of times until it expires', () => {
    expect(isSignedQuery(signed)).toBe(true);
    for (let time = 0; time < 3; time += 1) expect(opened(signed)).toEqual(PARAMETERS);
    for (const [at, hasExpired] of [
      [BEFORE, false],
      [EXPIRES, true],
    ] as const)
      expect(openSignedQuery(signed, [VECTOR.secret], at)).toMatchObject({ hasExpired });
  });

  it('can be opened with any valid secret during a rotation, but with no other secret', () => {
    expect(opened(signed, ['the new one', VECTOR.secret])).toEqual(PARAMETERS);
    expect(opened(signed, [VECTOR.secret, 'the old one'])).toEqual(PARAMETERS);
    expect(opened(signed, ['the new one'])).toBeNull();
    expect(opened(signed, [])).toBeNull();
  });

  it('is valid for any encoding and order of its parameters', () => {
    const reordered = signed.split('&').reverse().join('&');
    expect(opened(reordered.replaceAll('%20', '+').replace('~', '%7e'))).toEqual(PARAMETERS);
  });

  const changed = (name: string, value?: string): string => {
    const query = new URLSearchParams(signed);
    query.delete(name);
    if (value !== undefined) query.set(name, value);
    return query.toString();
  };
  it.each([
    ['a parameter added', `${signed}&onramp_amount=5`],
    ['a memo put in place of the user', signed.replace('user_id=', 'withdraw_address_memo=')],
    ['another address', changed('withdraw_address', `${ADDRESS.slice(0, -1)}U`)],
    ['a later expiry', changed('expires', '1767227401')],
    ['an expiry that is no number', changed('expires', 'never')],
    ['a signature of other letters', changed('url_signature', VECTOR.signature.toUpperCase())],
    ['a parameter given twice', `${signed}&withdraw_address=${ADDRESS}`],
    ['no user', changed('user_id')],
    ['no expiry', changed('expires')],
    ['no signature', changed('url_signature')],
    ['nothing', ''],
  ])('is refused with %s', (_, query) => {
    expect(opened(query)).toBeNull();
  });

  it('returns any parameters unchanged, and has equal signatures for equal parameters only', () => {
    const texts = fc.dictionary(
      fc.constantFrom('a', 'b', 'a=', 'a&b', '&', '=', '__proto__', '%61'),
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('&', '=', 'a=b&c=d', '+', '%26', ' ')),
    );
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const [a, b] = [signedQuery(one, SIGNING), signedQuery(other, SIGNING)];
        expect(opened(a)).toEqual(Object.fromEntries(Object.entries(one)));
        const same =
          JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
        expect(signature(a) === signature(b)).toBe(same);
      }),
    );
  });
});

function signature(query: string): string | null {
  return new URLSearchParams(query).get('url_signature');
}

const NOW = new Date('2026-11-23T12:00:00.900Z');

it('a link is signed with the newest secret of the key', () => {
  const config = readConfig({ PAY_URL: 'https://pay.example/' });
  const caller: ExchangeCaller = {
    keyId: 'the key',
    merchantId: 'the merchant',
    demandsSignature: true,
    memoSigning: 'contract',
    secrets: ['the old one', 'the new one'],
  };
  const { url, expiresAt } = signedLink(caller, { withdraw_address: 'T' }, config, NOW);
  const [address, query] = url.split('?') as [string, string];
  expect(address).toBe('https://pay.example/widget');
  const link = { parameters: { api_key: 'the key', withdraw_address: 'T' }, secret: 'the new one' };
  expect(openSignedQuery(query, caller.secrets, NOW)).toEqual({ ...link, hasExpired: false });
  expect(openSignedQuery(query, ['the old one'], NOW)).toBeNull();
  expect(openSignedQuery(query, caller.secrets, new Date(expiresAt))).toEqual({ ...link, hasExpired: true });
});
