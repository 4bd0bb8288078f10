import { crc32 as zlibCrc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { adminSecret, crc32, isAdminSecret } from './admin-secret.js';

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('the secret of an admin key', () => {
  it('has 43 base62 digits of 32 bytes and a check of 6', () => {
    expect(adminSecret('test', new Uint8Array(32))).toMatch(/^dsb_test_admin_0{43}[0-9A-Za-z]{6}$/);
    const largest = adminSecret('live', new Uint8Array(32).fill(255));
    // 2^256 - 1 in base 62.
    expect(largest.slice('dsb_live_admin_'.length, -6)).toBe('yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1');
  });

  it('has the CRC-32 of IEEE as its check', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => crc32(text) === zlibCrc32(text)));
  });

  it('is recognised in its own mode alone', () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        const secret = adminSecret('live', bytes);
        expect(isAdminSecret('live', secret)).toBe(true);
        expect(isAdminSecret('test', secret)).toBe(false);
      }),
    );
  });

  it('is refused with one character changed, missing or added', () => {
    fc.assert(
      fc.property(bytes32, fc.nat(), fc.constantFrom(...'0aZ_'), (bytes, at, other) => {
        const secret = adminSecret('test', bytes);
        const place = at % secret.length;
        const [head, tail] = [secret.slice(0, place), secret.slice(place + 1)];
        fc.pre(secret[place] !== other);
        for (const wrong of [head + other + tail, head + tail, head + other + secret[place] + tail])
          expect(isAdminSecret('test', wrong)).toBe(false);
      }),
    );
  });

  it('has exactly 32 bytes', () => {
    expect(() => adminSecret('live', new Uint8Array(31))).toThrow(RangeError);
  });
});
