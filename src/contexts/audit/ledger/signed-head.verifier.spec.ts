import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { signedHead, signer } from '../../../../test/support/audit/signed-log.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import type { SignedHead, SigningKey } from './signed-head.js';
import { HeadVerifier } from './ledger-keys.commands.js';

describe('the keys of a ledger', () => {
  const first = signer(null);
  const second = signer(first);
  const third = signer(second);
  const fourth = signer(third);
  const keys = [first, second, third, fourth];
  const trusted = (known: SigningKey | null): readonly boolean[] => {
    const trust = new HeadVerifier('l', keys, known, null);
    expect(trust.findings).toEqual([]);
    return keys.map(({ key_id }) => trust.trusts({ key_id }));
  };

  it.each<[string, SigningKey | null, readonly boolean[]]>([
    ['are all trusted by an auditor with the first key', first, [true, true, true, true]],
    ['are trusted from the second on by an auditor with the second key', second, [false, true, true, true]],
    ['are trusted from the third on by an auditor with the third key', third, [false, false, true, true]],
    ['are trusted from the last on by an auditor with the last key', fourth, [false, false, false, true]],
    ['are all trusted by an auditor without a key', null, [true, true, true, true]],
  ])('are trusted from the key of the auditor onwards: they %s', (_name, known, expected) => {
    expect(trusted(known)).toEqual(expected);
  });

  it('are reported and not trusted if the former key did not sign them', () => {
    const stranger = { ...signer(null), former_key_id: first.key_id, signature: third.signature };
    const trust = new HeadVerifier('l', [first, stranger], first, null);
    expect(trust.findings).toEqual([
      { kind: 'key', key_id: stranger.key_id, why: 'the key before it did not sign it' },
    ]);
    expect(trust.trusts({ key_id: stranger.key_id })).toBe(false);
  });

  it('are reported if the first key names a former key that is missing', () => {
    const { findings } = new HeadVerifier('l', [second], null, null);
    expect(findings).toEqual([
      { kind: 'key', key_id: second.key_id, why: 'the key before it did not sign it' },
    ]);
  });

  it('must include the key of the auditor, which is reported if it is missing', () => {
    const stranger = signer(null);
    const finding = { kind: 'key', key_id: stranger.key_id, why: 'the ledger does not know it' };
    expect(new HeadVerifier('l', keys, stranger, null).findings).toEqual([finding]);
    const renamed = { ...stranger, key_id: first.key_id };
    expect(new HeadVerifier('l', keys, renamed, null).findings).toEqual([
      { ...finding, key_id: first.key_id },
    ]);
  });

  it('must be sealed by the service when the master key is known', () => {
    const sealer = new Sealer(randomBytes(32));
    const kept = (key: SigningKey, bytes = Buffer.from(key.public_key, 'base64')) => ({
      ...key,
      sealedPrivateKey: null,
      sealedPublicKey: sealer.seal(bytes, `audit/public-key/${key.key_id}`),
    });
    expect(new HeadVerifier('l', [kept(first), kept(second)], null, sealer).findings).toEqual([]);
    const forged = kept(second, Buffer.from(first.public_key, 'base64'));
    expect(new HeadVerifier('l', [kept(first), forged], null, sealer).findings).toEqual([
      { kind: 'key', key_id: second.key_id, why: 'the service did not create it' },
    ]);
    expect(new HeadVerifier('l', [kept(first), forged], null, null).findings).toEqual([]);
  });
});

describe('a head of a ledger', () => {
  const key = signer(null);
  const signed = signedHead(key);

  it.each<[string, SignedHead, string | null]>([
    ['is valid with the signature of a known key', signed, null],
    ['is invalid with another signature', { ...signed, signature: 'ab' }, 'its signature is wrong'],
    ['is invalid if it was changed', { ...signed, size: 2 }, 'its signature is wrong'],
    ['is invalid if it is of another log', { ...signed, log_id: 'm' }, 'it is of the log m'],
    ['is invalid if its key is unknown', { ...signed, key_id: 'k' }, 'its key k is unknown'],
  ])('is checked for its signature, key and log: it %s', (_what, each, why) => {
    const trust = new HeadVerifier('l', [key], null, null);
    expect([trust.verify(signed), trust.verify(each)]).toEqual([null, why]);
  });

  it('is invalid if its key was not signed by the former key', () => {
    const trust = new HeadVerifier('l', [{ ...key, former_key_id: 'x' }], null, null);
    expect(trust.verify(signed)).toBe(`its key ${key.key_id} is unknown`);
  });
});
