import { describe, expect, it } from '@jest/globals';
import { keyText, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import { HeadTrust } from './head-trust.js';
import { keyIdOf, newKeyPair, signText } from './signatures.js';

type Pair = SigningKey & { readonly privateKey: Buffer };

function keyAfter(former: Pair | null): Pair {
  const { publicKey, privateKey } = newKeyPair();
  const [key_id, public_key] = [keyIdOf(publicKey), publicKey.toString('base64')];
  const key = { key_id, public_key, made_at: '2026-01-01', former_key_id: former?.key_id ?? null };
  return { ...key, signature: former && signText(keyText(key), former.privateKey), privateKey };
}

describe('the keys of a ledger, for an auditor who knows one of them', () => {
  const first = keyAfter(null);
  const second = keyAfter(first);
  const third = keyAfter(second);
  const fourth = keyAfter(third);
  const keys = [first, second, third, fourth];
  const vouched = (known: SigningKey | null): readonly boolean[] => {
    const trust = new HeadTrust('l', keys, known, null);
    expect(trust.findings).toEqual([]);
    return keys.map(({ key_id }) => trust.vouchesFor({ key_id } as SignedHead));
  };

  it.each<[string, SigningKey | null, readonly boolean[]]>([
    ['the first: all of them', first, [true, true, true, true]],
    ['the second: not the first', second, [false, true, true, true]],
    ['the third: neither the first nor the second', third, [false, false, true, true]],
    ['the last: it alone', fourth, [false, false, false, true]],
    ['none: all of them', null, [true, true, true, true]],
  ])('count from the known one on: %s', (_name, known, expected) => {
    expect(vouched(known)).toEqual(expected);
  });

  it('do not count after one that the key before did not sign', () => {
    const stranger = { ...keyAfter(null), former_key_id: first.key_id, signature: third.signature };
    const trust = new HeadTrust('l', [first, stranger], first, null);
    expect(trust.findings).toEqual([
      { kind: 'key', key_id: stranger.key_id, why: 'the key before it did not sign it' },
    ]);
    expect(trust.vouchesFor({ key_id: stranger.key_id } as SignedHead)).toBe(false);
  });
});
