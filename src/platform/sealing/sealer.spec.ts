import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeyedHash } from './keyed-hash.js';
import { deriveKey, Sealer, SealError } from './sealer.js';

const key = randomBytes(32);
const sealer = new Sealer(key);

describe('a sealer', () => {
  it('opens any text that it sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, place) => {
        expect(sealer.open(sealer.seal(text, place), place)).toBe(text);
      }),
    );
    const bytes = randomBytes(32);
    expect(sealer.openBytes(sealer.seal(bytes, 'place'), 'place')).toEqual(bytes);
  });

  it('seals the same text differently each time and reveals nothing of the text', () => {
    const [one, two] = [sealer.seal('secret', 'place'), sealer.seal('secret', 'place')];
    expect(one).not.toBe(two);
    expect(one).toMatch(/^s1\.[0-9a-f]{8}\.[\w-]+$/);
    expect(Buffer.from(one.split('.')[2]!, 'base64url').includes('secret')).toBe(false);
  });

  it('does not open a text with other associated data, another key, or any changed character', () => {
    const sealed = sealer.seal('secret', 'merchant/1');
    expect(() => sealer.open(sealed, 'merchant/2')).toThrow(SealError);
    expect(() => new Sealer(randomBytes(32)).open(sealed, 'merchant/1')).toThrow(SealError);
    for (let place = 0; place < sealed.length - 1; place += 1) {
      const changed = sealed.slice(0, place) + (sealed[place] === 'A' ? 'B' : 'A') + sealed.slice(place + 1);
      expect(() => sealer.open(changed, 'merchant/1')).toThrow(SealError);
    }
  });

  it('accepts only keys of 32 bytes', () => {
    expect(() => new Sealer(randomBytes(16))).toThrow('a sealing key must have 32 bytes');
    expect(() => new Sealer(key, [randomBytes(33)])).toThrow(RangeError);
  });

  it('names the reason if it does not open a text', () => {
    const sealed = sealer.seal('', 'place');
    expect(sealer.open(sealed, 'place')).toBe('');
    const [version, id, packed] = sealed.split('.') as [string, string, string];
    const short = Buffer.from(packed, 'base64url').subarray(0, 27).toString('base64url');
    const open = (text: string) => (): string => sealer.open(text, 'place');
    for (const none of [
      '',
      'plain',
      `s2.${id}.${packed}`,
      `${version}.${id}`,
      `${sealed}.x`,
      `${version}.${id}.${short}`,
    ])
      expect(open(none)).toThrow('not a sealed text');
    expect(open(`${version}.00000000.${packed}`)).toThrow('the text was sealed with an unknown key');
    expect(() => sealer.open(sealed, 'other')).toThrow('the sealed text was changed or belongs elsewhere');
  });

  it('seals with the key that was set last, and still opens texts of the former key', () => {
    const changing = new Sealer(key);
    const next = randomBytes(32);
    const before = changing.seal('text', 'place');
    expect(changing.sealsWith).toBe(before.split('.')[1]);
    changing.setKeys(next, [key]);
    expect(changing.sealsWith).toBe(new Sealer(next).sealsWith);
    expect(changing.open(before, 'place')).toBe('text');
    expect(new Sealer(next).open(changing.seal('text', 'place'), 'place')).toBe('text');
  });
});

describe('a MAC', () => {
  it('is the id of the sealing key and the HMAC-SHA256 of purpose and text under a derived key', () => {
    const bytes = createHmac('sha256', deriveKey(key, 'mac')).update('event\ntext').digest('base64url');
    expect(sealer.mac('event', 'text')).toBe(`${sealer.sealsWith}.${bytes}`);
  });

  it('is authentic only for its purpose and text, and only if the sealer has the key of the MAC', () => {
    const mac = sealer.mac('event', 'text');
    expect(sealer.isAuthentic('event', 'text', mac)).toBe(true);
    expect(new Sealer(randomBytes(32), [key]).isAuthentic('event', 'text', mac)).toBe(true);
    expect(new Sealer(randomBytes(32)).isAuthentic('event', 'text', mac)).toBe(false);
    for (const [purpose, text] of [
      ['response', 'text'],
      ['event', 'tex'],
      ['event', 'text\n'],
    ] as const)
      expect(sealer.isAuthentic(purpose, text, mac)).toBe(false);
    for (const other of [undefined, null, 7, '', '.', mac.slice(0, -1), `${mac}A`, `${sealer.sealsWith}.`])
      expect(sealer.isAuthentic('event', 'text', other)).toBe(false);
  });
});

describe('a keyed hash', () => {
  const hash = new KeyedHash(deriveKey(key, 'keyed-hash'));

  it('is the same for the same parts, and differs for other parts, another split or another key', () => {
    expect(hash.of('merchant', '+15550100')).toBe(hash.of('merchant', '+15550100'));
    expect(hash.of('merchant', '+15550100')).toMatch(/^[0-9a-f]{64}$/);
    expect(hash.of('merchant', '+15550100')).not.toBe(hash.of('merchant', '+15550101'));
    expect(hash.of('ab', 'c')).not.toBe(hash.of('a', 'bc'));
    expect(new KeyedHash(deriveKey(key, 'other')).of('a')).not.toBe(hash.of('a'));
  });
});
