import { describe, expect, it } from '@jest/globals';
import { encodeBase58 } from 'ethers';
import fc from 'fast-check';
import { base58Bytes } from './base58.js';

describe('decoding a Base58 text', () => {
  it('returns the encoded bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const zeros = bytes.findIndex((byte) => byte !== 0);
        const leading = zeros === -1 ? bytes.length : zeros;
        const rest = bytes.slice(leading);
        expect(base58Bytes('1'.repeat(leading) + (rest.length > 0 ? encodeBase58(rest) : ''))).toEqual(
          Buffer.from(bytes),
        );
      }),
    );
  });

  it.each(['0', 'O', 'I', 'l', ' ', 'a b', '１', '🦀'])('returns null for %j', (text) =>
    expect(base58Bytes(text)).toBeNull(),
  );
});
