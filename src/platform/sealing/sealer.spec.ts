import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeyedHash } from './keyed-hash.js';
import { deriveKey, Sealer, SealError } from './sealer.js';

const key = randomBytes(32);
const sealer = new Sealer(key);

describe('a sealer', () => {
  it('opens what it sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, place) => {
        expect(sealer.open(sealer.seal(text, place), place)).toBe(text);
      }),
    );
    const bytes = randomBytes(32);
    expect(sealer.openBytes(sealer.seal(bytes, 'place'), 'place')).toEqual(bytes);
  });

  it('seals the same text differently each time, and shows nothing of it', () => {
    const [one, two] = [sealer.seal('secret', 'place'), sealer.seal('secret', 'place')];
    expect(one).not.toBe(two);
    expect(one).toMatch(/^s1\.[0-9a-f]{8}\.[\w-]+$/);
    expect(Buffer.from(one.split('.')[2]!, 'base64url').includes('secret')).toBe(false);
  });

  it('does not open in another place, after a change of any character, or with another key', () => {
    const sealed = sealer.seal('secret', 'merchant/1');
    expect(() => sealer.open(sealed, 'merchant/2')).toThrow(SealError);
    expect(() => new Sealer(randomBytes(32)).open(sealed, 'merchant/1')).toThrow(SealError);
    for (let place = 0; place < sealed.length - 1; place += 1) {
      const changed = sealed.slice(0, place) + (sealed[place] === 'A' ? 'B' : 'A') + sealed.slice(place + 1);
      expect(() => sealer.open(changed, 'merchant/1')).toThrow(SealError);
    }
    for (const none of ['', 's1', 's1.x', 'plain', `${sealed}.more`]) {
      expect(() => sealer.open(none, 'merchant/1')).toThrow(SealError);
    }
  });

  it('opens what a former key sealed, and seals with the new one', () => {
    const rotated = new Sealer(randomBytes(32), [key]);
    expect(rotated.open(sealer.seal('secret', 'place'), 'place')).toBe('secret');
    expect(() => sealer.open(rotated.seal('secret', 'place'), 'place')).toThrow(SealError);
  });

  it('takes only keys of 32 bytes', () => {
    expect(() => new Sealer(randomBytes(16))).toThrow(RangeError);
  });
});

describe('a keyed hash', () => {
  const hash = new KeyedHash(deriveKey(key, 'keyed-hash'));

  it('is the same for the same parts, and different for other parts, cuts and keys', () => {
    expect(hash.of('merchant', '+15550100')).toBe(hash.of('merchant', '+15550100'));
    expect(hash.of('merchant', '+15550100')).toMatch(/^[0-9a-f]{64}$/);
    expect(hash.of('merchant', '+15550100')).not.toBe(hash.of('merchant', '+15550101'));
    expect(hash.of('ab', 'c')).not.toBe(hash.of('a', 'bc'));
    expect(new KeyedHash(deriveKey(key, 'other')).of('a')).not.toBe(hash.of('a'));
  });
});
