import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { newSecretsInMemory } from '../../../../test/support/access/new-secrets.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { CREDENTIAL_KINDS, type CredentialKind } from './credential-kinds.js';
import { processConfig } from '../../../platform/config/config.js';
import { adminSecret, CredentialSecrets, isAdminSecret } from './credential-secrets.service.js';

const secretsOf = (sealer: Sealer): CredentialSecrets =>
  new CredentialSecrets(sealer, new KeyedHash(randomBytes(32)), newSecretsInMemory(), processConfig({}));

describe.each([
  ['private keys of merchants', 'payouts', /^dsk_[0-9a-f]{64}$/],
  ['secrets of exchange keys', 'exchange', /^dxs_[0-9a-f]{64}$/],
] as const)('%s', (_, kind, form) => {
  const sealer = new Sealer(randomBytes(32));
  const secrets = secretsOf(sealer);
  const obtained = async (id: string) => {
    const { sealed_secret } = await secrets.obtain(kind, 'o1', id);
    const { secret } = await secrets.issued(id);
    return { kind, owner_id: 'o1', credential_id: id, sealed_secret, secret: secret! };
  };

  it('a sealed secret is decrypted only with its own kind, owner and id, also in later calls', async () => {
    const { secret, ...kept } = await obtained('c1');
    expect(secret).toMatch(form);
    expect(kept.sealed_secret).not.toContain(secret.slice(4));
    for (const opener of [secrets, secretsOf(sealer)]) {
      expect(opener.open(kept)).toBe(secret);
      expect(opener.open(kept)).toBe(secret);
      const otherKind = kind === 'payouts' ? 'exchange' : 'payouts';
      const { sealed_secret } = await obtained('c2');
      for (const wrong of [
        { owner_id: 'o2' },
        { credential_id: 'other' },
        { kind: otherKind } as const,
        { sealed_secret },
      ])
        expect(() => opener.open({ ...kept, ...wrong })).toThrow('belongs elsewhere');
    }
    expect(() => secretsOf(new Sealer(randomBytes(32))).open(kept)).toThrow('unknown key');
  });
});

describe('secrets that are generated for a credential id', () => {
  const keyedHash = new KeyedHash(randomBytes(32));
  const of = (mode: 'sandbox' | 'production') =>
    new CredentialSecrets(new Sealer(randomBytes(32)), keyedHash, newSecretsInMemory(), {
      ...processConfig({}),
      mode,
    });
  const obtain = async (secrets: CredentialSecrets, kind: CredentialKind, id: string) => {
    const { secret_hash } = await secrets.obtain(kind, 'o1', id);
    return { secret: (await secrets.issued(id)).secret!, secret_hash };
  };

  it('are random, even for the same kind, id and hash key', async () => {
    const [one, other] = [of('sandbox'), of('sandbox')];
    for (const kind of CREDENTIAL_KINDS)
      expect((await obtain(one, kind, kind)).secret).not.toBe((await obtain(other, kind, kind)).secret);
  });

  it('are stored only as a hash and are valid in only one mode if the kind is admin', async () => {
    const [sandbox, production] = [of('sandbox'), of('production')];
    const { secret, secret_hash } = await obtain(sandbox, 'admin', 'id');
    expect(secret).toMatch(/^dsb_test_admin_[0-9A-Za-z]{49}$/);
    expect((await obtain(production, 'admin', 'id')).secret).toMatch(/^dsb_live_admin_/);
    expect([sandbox.isAdmin(secret), production.isAdmin(secret)]).toEqual([true, false]);
    expect(secret_hash).toBe(sandbox.toHash(secret));
    expect((await sandbox.obtain('admin', 'o1', 'id')).sealed_secret).toBeNull();
  });
});

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('the secret of an admin key', () => {
  it('has 43 base62 digits for its 32 bytes and 6 for its checksum', () => {
    expect(adminSecret('test', new Uint8Array(32))).toMatch(/^dsb_test_admin_0{43}[0-9A-Za-z]{6}$/);
    const largest = adminSecret('live', new Uint8Array(32).fill(255));
    // 2^256 - 1 in base 62.
    expect(largest.slice('dsb_live_admin_'.length, -6)).toBe('yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1');
  });

  it('ends with the CRC-32 of the text before it', () => {
    const secret = adminSecret('test', new Uint8Array(32));
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const check = [...secret.slice(-6)].reduce((number, digit) => number * 62 + digits.indexOf(digit), 0);
    expect(check).toBe(crc32(secret.slice(0, -6)));
  });

  it('is refused if one character is changed, missing or added', () => {
    fc.assert(
      fc.property(bytes32, fc.nat(), fc.constantFrom(...'0aZ_'), (bytes, at, other) => {
        const secret = adminSecret('test', bytes);
        const place = at % secret.length;
        const [head, tail] = [secret.slice(0, place), secret.slice(place + 1)];
        expect(isAdminSecret('test', secret)).toBe(true);
        fc.pre(secret[place] !== other);
        for (const wrong of [head + other + tail, head + tail, head + other + secret[place] + tail])
          expect(isAdminSecret('test', wrong)).toBe(false);
      }),
    );
  });
});
