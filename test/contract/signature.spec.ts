import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { sign, signerAmong } from '../../src/platform/http/api.guard.js';
import {
  isFresh,
  prefersText,
  signatureMismatch,
  signedPrefix,
  timestampDrift,
} from '../../src/contexts/access/credentials/signature.guard.js';

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

test.each(VECTORS)('the signature of $name equals that of an independent implementation', (vector) => {
  const body = Buffer.from(vector.body, 'latin1' in vector ? 'latin1' : 'utf8');
  const prefix = signedPrefix(vector.timestamp, vector.method, vector.path);
  expect(sign(vector.key, prefix, body).toString('hex')).toBe(vector.hex);
  expect(signerAmong(['another key', vector.key], vector.hex, prefix, body)).toBe(1);
  expect(signerAmong(['another key'], vector.hex, prefix, body)).toBe(-1);
});

test('a signature matches only as lower-case hex of the right length', () => {
  const prefix = signedPrefix('1700000000', 'GET', '/');
  const hex = sign('key', prefix, Buffer.alloc(0)).toString('hex');
  const signed = (signature: string) => signerAmong(['key'], signature, prefix, Buffer.alloc(0)) >= 0;
  expect(signed(hex)).toBe(true);
  expect(signed(hex.toUpperCase())).toBe(false);
  expect(signed(hex.slice(0, 63))).toBe(false);
  expect(signed(`${hex}0`)).toBe(false);
  expect(signed(`${hex.slice(0, 63)}é`)).toBe(false);
});

test('a timestamp is accepted within 300 seconds either way', () => {
  const now = 1_700_000_000_900;
  expect(isFresh('1699999700', now)).toBe(true);
  expect(isFresh('1699999699', now)).toBe(false);
  expect(isFresh('1700000300', now)).toBe(true);
  expect(isFresh('1700000301', now)).toBe(false);
  for (const wrong of ['1.7e9', '-1700000000', '1700000000.5', 'now', '+1700000000', ' 1700000000']) {
    expect(isFresh(wrong, now)).toBe(false);
  }
});

async function mismatch(signature: string, body: Buffer, asText: boolean): Promise<string> {
  const { payload } = signatureMismatch(signature, signedPrefix('17', 'GET', '/a'), body, asText);
  return typeof payload === 'string' ? payload : text(payload);
}

test.each([2, 16_384, 16_385, 1_048_575])('a 401 lists the bytes to sign (%d-byte body)', async (length) => {
  const body = Buffer.from(Array.from({ length }, (_, i) => (i * 7) % 256));
  const signed = [...Buffer.concat([Buffer.from('17\nGET\n/a\n'), body])];
  const problem = JSON.parse(await mismatch('0', body, false)) as Record<string, unknown>;
  const { string_to_sign_bytes, ...rest } = problem;
  expect(JSON.stringify(string_to_sign_bytes)).toBe(JSON.stringify(signed));
  expect(rest).toEqual({
    type: 'about:blank',
    title: 'Invalid request signature',
    status: 401,
    detail: 'svc-signature does not match the request',
    instance: null,
    errors: {},
  });
  const lines = (await mismatch('0', body, true)).split('\n');
  expect(lines).toEqual([
    rest['detail'],
    'StringToSignBytes (hex, space-separated, lower-case):',
    signed.map((byte) => byte.toString(16).padStart(2, '0')).join(' '),
  ]);
});

test('a large 401 for a wrong signature is generated only as fast as it is read', () => {
  const { payload } = signatureMismatch('0', 'prefix', Buffer.alloc(1_048_575), false);
  expect((payload as Readable).readableLength).toBe(0);
  expect((payload as Readable).readableObjectMode).toBe(false);
  (payload as Readable).read(1);
  expect((payload as Readable).readableLength).toBeLessThan(100_000);
});

test('the response to a wrong signature mentions upper case only if the signature is in upper case', async () => {
  const detail = async (signature: string): Promise<unknown> =>
    (JSON.parse(await mismatch(signature, Buffer.alloc(0), false)) as { detail: string }).detail;
  expect(await detail('A1'.repeat(32))).toContain('lower-case');
  for (const other of ['a1'.repeat(32), '1'.repeat(64), 'A1', 'G1'.repeat(32)]) {
    expect(await detail(other)).toBe('svc-signature does not match the request');
  }
});

test('the response to a wrong timestamp contains the server time and notes a timestamp in milliseconds', () => {
  const now = 1_700_000_000_900;
  expect(timestampDrift('1', now).detail).toContain('1700000000');
  expect(timestampDrift('1700000000123', now).detail).toContain('milliseconds');
  for (const other of ['1600000000', '1600000000123', 'now', '17000000001234']) {
    expect(timestampDrift(other, now).detail).not.toContain('milliseconds');
  }
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
  ['text/plain;q=0.5, application/json;q=0.4', true],
  ['text/plain;q=0.5, application/json;q=0.6', false],
  ['text/plain;q=x', false],
  ['text/html', false],
])('for Accept: %s, plain text is preferred to JSON: %s', (accept, text) => {
  expect(prefersText(accept)).toBe(text);
});
