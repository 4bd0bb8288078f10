import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { CredentialSecrets } from './credential-secrets.js';

const secretsOf = (sealer: Sealer): CredentialSecrets =>
  new CredentialSecrets(sealer, new KeyedHash(randomBytes(32)), { mode: 'sandbox' });

describe.each([
  ['private keys of merchants', 'api_key', /^dsk_[0-9a-f]{64}$/],
  ['secrets of exchange keys', 'exchange_key', /^dxs_[0-9a-f]{64}$/],
] as const)('%s', (_, kind, form) => {
  const sealer = new Sealer(randomBytes(32));
  const secrets = secretsOf(sealer);

  it('are readable, different each time, and hold 32 random bytes', () => {
    const [one, other] = [secrets.generate(kind, 'c1'), secrets.generate(kind, 'c1')];
    expect(one.secret).toMatch(form);
    expect(one.secret).not.toBe(other.secret);
    expect(one.secretId).not.toBe(other.secretId);
  });

  it('open for their own credential and id alone, also after they were opened there', () => {
    const { secret, ...kept } = secrets.generate(kind, 'c1');
    expect(kept.sealed).not.toContain(secret.slice(4));
    for (const opener of [secrets, secretsOf(sealer)]) {
      expect(opener.open(kind, 'c1', kept)).toBe(secret);
      expect(opener.open(kind, 'c1', kept)).toBe(secret);
      expect(() => opener.open(kind, 'c2', kept)).toThrow('belongs elsewhere');
      expect(() => opener.open(kind, 'c1', { ...kept, secretId: 'other' })).toThrow('belongs elsewhere');
      const otherKind = kind === 'api_key' ? 'exchange_key' : 'api_key';
      expect(() => opener.open(otherKind, 'c1', kept)).toThrow('belongs elsewhere');
      const swapped = { ...kept, sealed: secrets.generate(kind, 'c1').sealed };
      expect(() => opener.open(kind, 'c1', swapped)).toThrow('belongs elsewhere');
    }
    expect(() => secretsOf(new Sealer(randomBytes(32))).open(kind, 'c1', kept)).toThrow('not at hand');
  });
});

describe('secrets of admin keys', () => {
  const keyedHash = new KeyedHash(randomBytes(32));
  const of = (mode: 'sandbox' | 'production') =>
    new CredentialSecrets(new Sealer(randomBytes(32)), keyedHash, { mode });

  it('follow from their seed, and belong to one mode', () => {
    const [sandbox, production] = [of('sandbox'), of('production')];
    const { secret, hash } = sandbox.admin('seed');
    expect(secret).toMatch(/^dsb_test_admin_[0-9A-Za-z]{49}$/);
    expect(of('sandbox').admin('seed')).toEqual({ secret, hash });
    expect(sandbox.admin('other').secret).not.toBe(secret);
    expect(production.admin('seed').secret).toMatch(/^dsb_live_admin_/);
    expect([sandbox.isAdmin(secret), production.isAdmin(secret)]).toEqual([true, false]);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).toBe(sandbox.hashOf(secret));
  });
});
