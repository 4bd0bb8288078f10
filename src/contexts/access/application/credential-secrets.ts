import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { newId } from '../../../kernel/ids.js';
import { SealedSecrets, Sealer } from '../../../platform/sealing/sealer.js';
import type { CredentialKind, NewSecret } from '../domain/credential.js';

const PREFIXES: Readonly<Record<CredentialKind, string>> = { api_key: 'dsk_', exchange_key: 'dxs_' };
const SECRET_BYTES = 32;

export interface GeneratedSecret extends NewSecret {
  /** The prefix and 64 hexadecimal digits. The HMAC key is the UTF-8 bytes of this text (contract.md 2.2, 21.3). */
  readonly secret: string;
}

/** Generates the secrets of credentials, and opens sealed ones. */
@Injectable()
export class CredentialSecrets {
  private readonly secrets: SealedSecrets;

  constructor(sealer: Sealer) {
    this.secrets = new SealedSecrets(sealer);
  }

  generate(kind: CredentialKind, credentialId: string): GeneratedSecret {
    const secretId = newId();
    const secret = PREFIXES[kind] + randomBytes(SECRET_BYTES).toString('hex');
    return { secretId, secret, sealed: this.secrets.seal(placeOf(kind, credentialId, secretId), secret) };
  }

  /** Throws SealError when the text was sealed for another credential or secret. */
  open(kind: CredentialKind, credentialId: string, { secretId, sealed }: NewSecret): string {
    return this.secrets.open(placeOf(kind, credentialId, secretId), sealed);
  }
}

function placeOf(kind: CredentialKind, credentialId: string, secretId: string): string {
  return `${kind}/${credentialId}/secret/${secretId}`;
}
