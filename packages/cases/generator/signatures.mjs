import { canonicalQuery, hmacHex, TEXTS } from './bytes.mjs';

const SECRETS = [
  'sk_live_4f9a',
  'a secret with spaces and ümlauts',
  'k'.repeat(64),
  'longer than a block of the hash '.repeat(4),
  '0',
  '💸',
];
const CALLS = [
  ['POST', '/merchants/v1/users'],
  ['POST', '/merchants/v1/payouts/report'],
  ['PATCH', '/merchants/v1/webhook_endpoints/0b5a3d7e-8c1f-4f9e-9d57-3f0f6f0e8a11'],
  ['DELETE', '/merchants/v1/portal_sessions/0b5a3d7e-8c1f-4f9e-9d57-3f0f6f0e8a11'],
  ['GET', '/merchants/v1/payouts'],
];
const nth = (list, n) => list[n % list.length];
const base64 = (content) => Buffer.from(content).toString('base64');

/** Any bytes are a body. */
const BODIES = {
  ...Object.fromEntries(
    Object.entries(TEXTS).map(([name, text]) => [`the JSON of ${name}`, JSON.stringify({ text })]),
  ),
  ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, text])),
  'every byte': Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
  'bytes that are no UTF-8': Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x80]),
  'half a character': Buffer.from('é').subarray(0, 1),
  'a line break at its end': '{"a":1}\n',
  'JSON with spaces': '{ "a" : [ 1 , 2 ] }',
  'numbers as they were written': '{"a":1.0,"b":1e2,"c":-0}',
  'escapes of JSON': '{"a":"\\u00e9\\n\\\\"}',
  'a long text': 'x'.repeat(3000),
};

export function merchantSignatures() {
  return Object.entries(BODIES).map(([name, body], n) => {
    const [method, path] = nth(CALLS, n);
    const seconds = String(1_700_000_000 + n * 86_399);
    const secret = nth(SECRETS, n);
    const signed = Buffer.concat([Buffer.from(`${seconds}\n${method}\n${path}\n`), Buffer.from(body)]);
    return {
      name: `${method} with ${name} as its body`,
      ...{ secret, seconds, method, path, body_base64: base64(body), signed_base64: base64(signed) },
      signature: hmacHex(secret, signed),
    };
  });
}

export function addressSignatures() {
  return Object.entries(TEXTS).map(([name, address], n) => {
    const secret = nth(SECRETS, n);
    return { name, secret, address, signature: hmacHex(secret, `withdraw_address=${address}`) };
  });
}

const ORDER = [
  ['pair_id', 'USDCSOL'],
  ['withdraw_address', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'],
  ['api_key', 'pk_1'],
];

export function querySignatures() {
  const queries = {
    'no parameters': [],
    'one parameter': [['api_key', 'pk_1']],
    'an order': ORDER,
    'an order in another sequence': ORDER.toReversed(),
    'a signature_v2 that is there already': [...ORDER, ['signature_v2', 'f'.repeat(64)]],
    'a signature of the address': [...ORDER, ['signature', '0'.repeat(64)]],
    'a name twice': [...ORDER, ['user_id', 'b'], ['user_id', 'a']],
    'names of which one begins the other': [
      ['withdraw_address_tag', '1'],
      ['withdraw_address', '2'],
    ],
    'upper and lower case': [
      ['b', '1'],
      ['B', '2'],
      ['a', '3'],
      ['A', '4'],
    ],
    'names in other letters': [
      ['größe', '1'],
      ['zahl', '2'],
      ['名', '3'],
    ],
    ...Object.fromEntries(
      Object.entries(TEXTS).map(([name, text]) => [
        `a memo with ${name}`,
        [...ORDER, ['withdraw_address_memo', text]],
      ]),
    ),
  };
  return Object.entries(queries).map(([name, query], n) => {
    const secret = nth(SECRETS, n);
    const path = nth(['/v1/orders', '/v1/merchants/configuration'], n);
    const signed = `${path}?${canonicalQuery(query)}`;
    return { name, secret, path, query, signed, signature: hmacHex(secret, signed) };
  });
}
