import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { newSecretsInMemory } from '../../../../test/support/access/new-secrets.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { CredentialSecrets } from './credential-secrets.js';

const secretsOf = (sealer: Sealer): CredentialSecrets =>
  new CredentialSecrets(sealer, new KeyedHash(randomBytes(32)), newSecretsInMemory(), { mode: 'sandbox' });

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

describe('secrets that are obtained for an id', () => {
  const keyedHash = new KeyedHash(randomBytes(32));
  const of = (mode: 'sandbox' | 'production', fresh = newSecretsInMemory()) =>
    new CredentialSecrets(new Sealer(randomBytes(32)), keyedHash, fresh, { mode });

  it('are random: no key of the service and no id leads to them', async () => {
    const [one, other] = [of('sandbox'), of('sandbox')];
    expect((await one.obtainAdmin('id')).secret).not.toBe((await other.obtainAdmin('id')).secret);
    for (const kind of ['api_key', 'exchange_key'] as const)
      expect((await one.obtain(kind, 'c1', kind)).secret).not.toBe(
        (await other.obtain(kind, 'c1', kind)).secret,
      );
  });

  it('are the same for a repeat, and unknown once they are forgotten', async () => {
    const fresh = newSecretsInMemory();
    const secrets = of('sandbox', fresh);
    const { secret } = await secrets.obtain('api_key', 'c1', 's1');
    expect((await secrets.obtain('api_key', 'c1', 's1')).secret).toBe(secret);
    expect(await secrets.issued('s1')).toBe(secret);
    await fresh.forget();
    expect(await secrets.issued('s1')).toBeNull();
    await expect(secrets.obtain('api_key', 'c1', 's1')).rejects.toMatchObject({ code: 'invalid_transition' });
    await expect(secrets.obtainAdmin('s1')).rejects.toMatchObject({ code: 'invalid_transition' });
  });

  it('of admin keys belong to one mode', async () => {
    const [sandbox, production] = [of('sandbox'), of('production')];
    const { secret, hash } = await sandbox.obtainAdmin('id');
    expect(secret).toMatch(/^dsb_test_admin_[0-9A-Za-z]{49}$/);
    expect((await production.obtainAdmin('id')).secret).toMatch(/^dsb_live_admin_/);
    expect([sandbox.isAdmin(secret), production.isAdmin(secret)]).toEqual([true, false]);
    expect(hash).toBe(sandbox.hashOf(secret));
  });
});
