import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { keyText, type SigningKey } from '../domain/signed-head.js';
import { isSignedKey, keyIdOf, keyOfPem, newKeyPair, pemOf, signText } from './signatures.js';

const pair = newKeyPair();
const former: SigningKey = {
  ...{ key_id: keyIdOf(pair.publicKey), public_key: pair.publicKey.toString('base64') },
  ...{ made_at: 'then', former_key_id: null, signature: null },
};
const signed = (former_key_id: string): SigningKey => {
  const key = { key_id: 'k', public_key: 'p', made_at: 'then', former_key_id };
  return { ...key, signature: signText(keyText(key), pair.privateKey) };
};

describe('a key that another one signs', () => {
  it('names it and has its signature', () => {
    const key = signed(former.key_id);
    expect(isSignedKey(key, former)).toBe(true);
    expect(isSignedKey(signed('another'), former)).toBe(false);
    expect(isSignedKey({ ...key, signature: null }, former)).toBe(false);
    expect(isSignedKey({ ...key, public_key: 'q' }, former)).toBe(false);
    expect(isSignedKey(key, { ...former, public_key: 'no key' })).toBe(false);
  });
});

describe('a public key as PEM', () => {
  it('is that of the ledger', () => {
    expect(keyOfPem(pemOf(former))).toEqual({ key_id: former.key_id, public_key: former.public_key });
    expect(former.key_id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('of another kind is refused', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(() => keyOfPem(publicKey.export({ type: 'spki', format: 'pem' }).toString())).toThrow(
      'not an Ed25519 key',
    );
  });
});
