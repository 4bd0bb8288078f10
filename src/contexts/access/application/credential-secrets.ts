import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { newId } from '../../../kernel/ids.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { SealedSecrets, Sealer } from '../../../platform/sealing/sealer.js';
import { adminSecret, isAdminSecret, type KeyMode } from '../domain/admin-secret.js';
import type { CredentialKind, NewSecret } from '../domain/credential.js';

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
    @Inject(CONFIG) config: Pick<Config, 'mode'>,
  ) {
    this.secrets = new SealedSecrets(sealer);
    this.mode = config.mode === 'production' ? 'live' : 'test';
  }

  generate(kind: CredentialKind, credentialId: string): GeneratedSecret {
    return this.sealed(kind, credentialId, newId(), randomBytes(SECRET_BYTES).toString('hex'));
  }

  /** The same for the same id of the secret, so that a retry after a crash gives the secret that was issued. */
  derive(kind: CredentialKind, credentialId: string, secretId: string): GeneratedSecret {
    return this.sealed(kind, credentialId, secretId, this.keyedHash.of(`${kind} secret`, secretId));
  }

  /** Of an admin key: the same for the same `seed`, so that a retry after a crash gives the secret that was issued. */
  admin(seed: string): { readonly secret: string; readonly hash: string } {
    const secret = adminSecret(this.mode, Buffer.from(this.keyedHash.of('admin key secret', seed), 'hex'));
    return { secret, hash: this.hashOf(secret) };
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
    return this.secrets.open(placeOf(kind, credentialId, secretId), sealed);
  }

  private sealed(
    kind: CredentialKind,
    credentialId: string,
    secretId: string,
    digits: string,
  ): GeneratedSecret {
    const secret = PREFIXES[kind] + digits;
    const sealed = this.secrets.seal(placeOf(kind, credentialId, secretId), secret);
    return { secretId, secret, sealed, hash: this.hashOf(secret) };
  }
}

function placeOf(kind: CredentialKind, credentialId: string, secretId: string): string {
  return `${kind}/${credentialId}/secret/${secretId}`;
}
