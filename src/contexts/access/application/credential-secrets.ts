import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { SealedSecrets, Sealer } from '../../../platform/sealing/sealer.js';
import { adminSecret, isAdminSecret, type KeyMode } from '../domain/admin-secret.js';
import type { CredentialKind, NewSecret } from '../domain/credential.js';
import { NewSecrets } from '../store/new-secrets.js';

const PREFIXES: Readonly<Record<CredentialKind, string>> = { api_key: 'dsk_', exchange_key: 'dxs_' };
const SECRET_BYTES = 32;

interface GeneratedSecret extends NewSecret {
  /** The prefix and 64 hexadecimal digits. The HMAC key is the UTF-8 bytes of this text (contract.md 2.2, 21.3). */
  readonly secret: string;
}

@Injectable()
export class CredentialSecrets {
  private readonly secrets: SealedSecrets;
  private readonly mode: KeyMode;

  constructor(
    sealer: Sealer,
    private readonly keyedHash: KeyedHash,
    private readonly fresh: NewSecrets,
    @Inject(CONFIG) config: Pick<Config, 'mode'>,
  ) {
    this.secrets = new SealedSecrets(sealer);
    this.mode = config.mode === 'production' ? 'live' : 'test';
  }

  generate(kind: CredentialKind, credentialId: string): GeneratedSecret {
    return this.sealed(kind, credentialId, newId(), newText(kind));
  }

  /** The same for a day, so that a retry after a crash gives the secret that was issued. Throws `invalid_transition` later. */
  async obtain(kind: CredentialKind, credentialId: string, secretId: string): Promise<GeneratedSecret> {
    const secret = await this.fresh.obtain(secretId, () => newText(kind));
    return this.sealed(kind, credentialId, secretId, secret ?? gone());
  }

  /** As {@link obtain}, of an admin key. */
  async obtainAdmin(keyId: string): Promise<{ readonly secret: string; readonly hash: string }> {
    const generate = (): string => adminSecret(this.mode, randomBytes(SECRET_BYTES));
    const secret = (await this.fresh.obtain(keyId, generate)) ?? gone();
    return { secret, hash: this.hashOf(secret) };
  }

  /** The secret that was obtained for this id; null after a day. */
  issued(secretId: string): Promise<string | null> {
    return this.fresh.find(secretId);
  }

  /** Whether the text can be the secret of an admin key here: only then is it worth a query. */
  isAdmin(text: string): boolean {
    return isAdminSecret(this.mode, text);
  }

  /** What is stored to find the credential by its secret. */
  hashOf(secret: string): string {
    return this.keyedHash.of('credential secret', secret);
  }

  /** Throws SealError when the text was sealed for another credential or secret. */
  open(
    kind: CredentialKind,
    credentialId: string,
    { secretId, sealed }: Pick<NewSecret, 'secretId' | 'sealed'>,
  ): string {
    return this.secrets.open(associatedDataOf(kind, credentialId, secretId), sealed);
  }

  private sealed(
    kind: CredentialKind,
    credentialId: string,
    secretId: string,
    secret: string,
  ): GeneratedSecret {
    const sealed = this.secrets.seal(associatedDataOf(kind, credentialId, secretId), secret);
    return { secretId, secret, sealed, hash: this.hashOf(secret) };
  }
}

function newText(kind: CredentialKind): string {
  return PREFIXES[kind] + randomBytes(SECRET_BYTES).toString('hex');
}

function gone(): never {
  throw new DomainError('invalid_transition', 'The secret was generated a day ago and is no longer kept');
}

function associatedDataOf(kind: CredentialKind, credentialId: string, secretId: string): string {
  return `${kind}/${credentialId}/secret/${secretId}`;
}
