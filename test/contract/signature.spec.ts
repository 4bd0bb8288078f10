import { expect, test } from '@jest/globals';
import {
  isFresh,
  isSignedBy,
  prefersText,
  sign,
  signatureMismatch,
  signatureMismatchText,
  signedPrefix,
} from '../../src/platform/http/signature.js';

/** Computed with openssl and Python's hmac over the bytes named here, not with this code. */
const VECTORS = [
  {
    name: 'a GET without a body',
    key: 'sk_test_4f9c2e',
    timestamp: '1700000000',
    method: 'GET',
    path: '/merchants/v1/payouts',
    body: '',
    hex: '397ca9c697f0178060b9cca32d0954f82528974276c99753802a0a452464758e',
  },
  {
    name: 'a POST with JSON',
    key: 'sk_test_4f9c2e',
    timestamp: '1700000000',
    method: 'POST',
    path: '/merchants/v1/users',
    body: '{"phone_number":"+14155550100"}',
    hex: 'f808d909b720dc9ce04b586b70eabb6b7b9801743431de480304d5e0942504fc',
  },
  {
    name: 'bytes beyond ASCII, in key and body, and an encoded path',
    key: 'clé-秘密',
    timestamp: '1763661600',
    method: 'PATCH',
    path: '/merchants/v1/users/%C3%A9%2F',
    body: '{"n":"Zoë 🙂"}\n',
    hex: 'ff699e555928c8a405df7999d142402f276b84e79c0eb16cc5660776c0eadf38',
  },
  {
    name: 'a body that is no UTF-8',
    key: 'k',
    timestamp: '0',
    method: 'DELETE',
    path: '/',
    body: Buffer.from([0xff, 0x00, 0xfe]).toString('latin1'),
    latin1: true,
    hex: '8cc6ef9aa47933015dcd2b32afedb44fe7a018592b6516cb96a3375ed798fb70',
  },
] as const;

test.each(VECTORS)('signs $name as anybody would', (vector) => {
  const body = Buffer.from(vector.body, 'latin1' in vector ? 'latin1' : 'utf8');
  const prefix = signedPrefix(vector.timestamp, vector.method, vector.path);
  expect(sign(vector.key, prefix, body).toString('hex')).toBe(vector.hex);
  expect(isSignedBy(['another key', vector.key], vector.hex, prefix, body)).toBe(true);
  expect(isSignedBy(['another key'], vector.hex, prefix, body)).toBe(false);
});

test('only lower-case hex of the right length matches', () => {
  const prefix = signedPrefix('1700000000', 'GET', '/');
  const hex = sign('key', prefix, Buffer.alloc(0)).toString('hex');
  const signed = (signature: string) => isSignedBy(['key'], signature, prefix, Buffer.alloc(0));
  expect(signed(hex)).toBe(true);
  expect(signed(hex.toUpperCase())).toBe(false);
  expect(signed(hex.slice(0, 63))).toBe(false);
  expect(signed(`${hex}0`)).toBe(false);
  expect(signed(`${hex.slice(0, 63)}é`)).toBe(false);
});

test('a timestamp is fresh within 300 seconds either way', () => {
  const now = 1_700_000_000_900;
  expect(isFresh('1699999700', now)).toBe(true);
  expect(isFresh('1699999699', now)).toBe(false);
  expect(isFresh('1700000300', now)).toBe(true);
  expect(isFresh('1700000301', now)).toBe(false);
  for (const wrong of ['1.7e9', '-1700000000', '1700000000.5', 'now', '+1700000000', ' 1700000000']) {
    expect(isFresh(wrong, now)).toBe(false);
  }
});

test('a mismatch shows the bytes that were signed, as JSON or as text', () => {
  const prefix = signedPrefix('17', 'GET', '/a');
  const body = Buffer.from([0x7b, 0xff]);
  expect(signatureMismatch(prefix, body).members).toEqual({
    string_to_sign_bytes: [0x31, 0x37, 0x0a, 0x47, 0x45, 0x54, 0x0a, 0x2f, 0x61, 0x0a, 0x7b, 0xff],
  });
  const [detail, label, hex, ...rest] = signatureMismatchText(prefix, body).split('\n');
  expect(detail).toBe(signatureMismatch(prefix, body).detail);
  expect(label).toBe('StringToSignBytes (hex, space-separated, lower-case):');
  expect(hex).toBe('31 37 0a 47 45 54 0a 2f 61 0a 7b ff');
  expect(rest).toEqual([]);
});

test.each([
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['text/plain', true],
  ['TEXT/PLAIN; charset=utf-8', true],
  ['text/plain, */*', true],
  ['application/json, text/plain, */*', false],
  ['application/json;q=0.5, text/plain', true],
  ['text/plain;q=0', false],
  ['text/html', false],
])('Accept: %s prefers text: %s', (accept, text) => {
  expect(prefersText(accept)).toBe(text);
});
