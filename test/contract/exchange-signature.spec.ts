import { expect, test } from '@jest/globals';
import {
  addressSigner,
  requireOrderSignature,
} from '../../src/contexts/exchange/orders/order-signature.guard.js';
import { Refusal } from '../../src/platform/http/problem.js';

const SECRET = 'dxs_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const ADDRESS = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';

/**
 * Computed with openssl, not with this code:
 * `printf 'withdraw_address=%s' "$address" | openssl dgst -sha256 -mac HMAC -macopt "key:$secret" -r`.
 */
const VECTORS = [
  {
    name: 'an address',
    secret: SECRET,
    address: ADDRESS,
    hex: '215933bd10320750ca67288b1e4a402f8caea7b82bff6020ae8eda598c2c3cf1',
  },
  {
    name: 'no address, as for the list of all orders',
    secret: SECRET,
    address: '',
    hex: '5068b2ae2547f71001c24a4538ebef091512ad784d645085977ad51a23514857',
  },
  {
    name: 'a secret beyond ASCII, used as UTF-8',
    secret: 'sécret with spaces and 🔑',
    address: ADDRESS,
    hex: '7cf805592c550ab135a76ca94da7e525d33218826020292da88d09787ce34daa',
  },
  {
    name: 'characters that a query string encodes, signed after decoding',
    secret: SECRET,
    address: 'a b&c=d%20é',
    hex: '9a3389c907187c05ff30ffbfee7574130adbfcf5a54727d6fcf5a2aba1dc2f0c',
  },
];
const [{ hex }] = VECTORS as [(typeof VECTORS)[number]];

test.each(VECTORS)('$name: the signature equals that of openssl', ({ secret, address, hex: signature }) => {
  expect(addressSigner({ secrets: [secret] }, signature, address)).toBe(secret);
  expect(addressSigner({ secrets: ['another', secret] }, signature, address)).toBe(secret);
  expect(addressSigner({ secrets: ['another'] }, signature, address)).toBeUndefined();
  expect(addressSigner({ secrets: [secret] }, signature, `${address}x`)).toBeUndefined();
});

test.each([
  ['upper case', hex.toUpperCase()],
  ['a prefix', `0x${hex}`],
  ['too short', hex.slice(0, 62)],
  ['too long', `${hex}00`],
  ['a space', `${hex} `],
  ['a newline', `${hex}\n`],
  ['another letter', `${hex.slice(0, 63)}g`],
  ['nothing', ''],
])('a signature that is not 64 lower-case hex digits is refused: %s', (_, signature) => {
  expect(addressSigner({ secrets: [SECRET] }, signature, ADDRESS)).toBeUndefined();
});

test('an order action may omit its signature only if the key allows it; a wrong signature always gets 401', () => {
  const caller = (demandsSignature: boolean) => ({
    keyId: 'k',
    merchantId: 'm',
    secrets: [SECRET],
    demandsSignature,
    memoSigning: 'contract' as const,
  });
  const refused = expect.objectContaining({
    problem: expect.objectContaining({ status: 401, title: 'Invalid API key or signature' }),
  });
  for (const demands of [true, false]) {
    expect(() => requireOrderSignature(caller(demands), hex, ADDRESS)).not.toThrow();
    for (const [signature, address] of [
      ['', ADDRESS],
      [hex.toUpperCase(), ADDRESS],
      [hex, 'another address'],
    ] as const) {
      const asking = () => requireOrderSignature(caller(demands), signature, address);
      expect(asking).toThrow(Refusal);
      expect(asking).toThrow(refused);
    }
  }
  expect(() => requireOrderSignature(caller(false), undefined, ADDRESS)).not.toThrow();
  expect(() => requireOrderSignature(caller(true), undefined, ADDRESS)).toThrow(Refusal);
});
