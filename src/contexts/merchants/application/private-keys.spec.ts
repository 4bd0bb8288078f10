import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { PrivateKeys } from './private-keys.js';

describe('private keys', () => {
  const sealer = new Sealer(randomBytes(32));
  const keys = new PrivateKeys(sealer);

  it('are readable, different each time, and hold 32 random bytes', () => {
    const [one, other] = [keys.generate('m1'), keys.generate('m1')];
    expect(one.privateKey).toMatch(/^dsk_[0-9a-f]{64}$/);
    expect(one.privateKey).not.toBe(other.privateKey);
    expect(one.keyId).not.toBe(other.keyId);
  });

  it('open for their own merchant and key alone', () => {
    const { keyId, privateKey, sealed } = keys.generate('m1');
    expect(sealed).not.toContain(privateKey.slice(4));
    expect(keys.open('m1', keyId, sealed)).toBe(privateKey);
    expect(new PrivateKeys(sealer).open('m1', keyId, sealed)).toBe(privateKey);
    expect(() => new PrivateKeys(sealer).open('m2', keyId, sealed)).toThrow('belongs elsewhere');
    expect(() => new PrivateKeys(sealer).open('m1', 'other', sealed)).toThrow('belongs elsewhere');
    expect(() => new PrivateKeys(new Sealer(randomBytes(32))).open('m1', keyId, sealed)).toThrow(
      'not at hand',
    );
  });
});
