import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';

/** The spec that compares the file leaves openssl out: a process for each value takes its time. */
const WITHOUT_OPENSSL = process.argv.includes('--without-openssl');

/** HMAC-SHA256 in hex; openssl must agree. */
export function hmacHex(key, content) {
  const options = ['-mac', 'HMAC', '-macopt', `hexkey:${Buffer.from(key).toString('hex')}`];
  return agreed(createHmac('sha256', key).update(content).digest('hex'), options, content);
}

/** SHA-256 in hex; openssl must agree. */
const sha256Hex = (content) => agreed(createHash('sha256').update(content).digest('hex'), [], content);

function agreed(hex, options, content) {
  if (WITHOUT_OPENSSL) return hex;
  const args = ['dgst', '-sha256', ...options];
  const output = execFileSync('openssl', args, { input: Buffer.from(content), encoding: 'utf8' });
  if (!output.includes(hex)) throw new Error(`openssl and node differ: ${output}`);
  return hex;
}

/** A uuid of version 8: half of the digest, its version and its variant written over it. */
export function uuidOf(content) {
  const digits = [...sha256Hex(content).slice(0, 32)];
  digits[12] = '8';
  digits[16] = '89ab'[parseInt(digits[16], 16) & 3];
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Percent-encoding of RFC 3986, byte by byte. */
export function percentEncoded(text) {
  const isPlain = (byte) => /[A-Za-z0-9\-._~]/.test(String.fromCharCode(byte)) && byte < 128;
  return [...Buffer.from(text)]
    .map((byte) =>
      isPlain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}

/** A query as contract 21.3 signs it: each pair encoded, pairs in the order of their bytes, without signature_v2. */
export const canonicalQuery = (pairs) =>
  pairs
    .filter(([name]) => name !== 'signature_v2')
    .map(([name, value]) => Buffer.from(`${percentEncoded(name)}=${percentEncoded(value)}`))
    .sort(Buffer.compare)
    .join('&');

/** Texts with all kinds of characters, by name. */
export const TEXTS = {
  'an empty text': '',
  'one letter': 'a',
  digits: '0123456789',
  'spaces around': '  two  spaces  ',
  'reserved characters': "!*'();:@&=+$,/?#[]",
  'unreserved characters': '-._~',
  'other ASCII': '"<>\\^`{|}%',
  'an escape that is there already': '%20%2F%zz',
  'a plus and a space': 'a+b c',
  'letters with accents': 'café Zürich Łódź',
  'letters with a combining accent': 'cafe\u0301',
  Cyrillic: 'выплата',
  Japanese: '支払い',
  Arabic: 'دفعة',
  'an emoji outside the basic plane': 'paid 💸 twice 👩‍👩‍👧',
  'line breaks and a tab': 'a\nb\r\nc\td',
  'a line separator': 'a\u2028b\u2029c',
  'a byte order mark': '\ufeffa',
  'a no-break space': 'a\u00a0b',
  'control characters': '\u0001\u001f\u007f',
  'a null character': 'a\u0000b',
};
