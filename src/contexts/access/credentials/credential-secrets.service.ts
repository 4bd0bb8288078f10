import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { SealedSecrets, Sealer } from '../../../platform/sealing/sealer.js';
import { KIND_RULES, type CredentialKind } from './credential-kinds.js';
import type { Credential, CredentialSecret } from './credentials.js';
import { NewSecrets } from './new-secrets.store.js';

const SECRET_BYTES = 32;

export interface CredentialWithSecret {
  readonly credential_id: string;
  /** The secret; null a day after the request. */
  readonly secret: string | null;
}

@Injectable()
export class CredentialSecrets {
  private readonly secrets: SealedSecrets;
  private readonly mode: KeyMode;

  constructor(
    sealer: Sealer,
    private readonly keyedHash: KeyedHash,
    private readonly fresh: NewSecrets,
    @Inject(processConfig.KEY) config: ProcessConfig,
  ) {
    this.secrets = new SealedSecrets(sealer);
    this.mode = config.mode === 'production' ? 'live' : 'test';
  }

  /** Returns a random secret, the same for retries within a day. Throws `invalid_transition` after a day. */
  async obtain(kind: CredentialKind, ownerId: string, id: string): Promise<CredentialSecret> {
    const { prefix } = KIND_RULES[kind];
    // The HMAC key is the UTF-8 bytes of this text (contract.md 2.2, 21.3).
    const secret = await this.fresh.obtain(id, () => {
      const bytes = randomBytes(SECRET_BYTES);
      return prefix === null ? adminSecret(this.mode, bytes) : prefix + bytes.toString('hex');
    });
    if (secret === null)
      throw new DomainError('invalid_transition', 'The secret was generated a day ago and is no longer kept');
    const sealed = prefix === null ? null : this.secrets.seal(toAssociatedData(kind, ownerId, id), secret);
    return { credential_id: id, sealed_secret: sealed, secret_hash: this.toHash(secret) };
  }

  async issued(id: string): Promise<CredentialWithSecret> {
    return { credential_id: id, secret: await this.fresh.find(id) };
  }

  /** Checks form and checksum of an admin key, so that malformed keys cost no query. */
  isAdmin(text: string): boolean {
    return isAdminSecret(this.mode, text);
  }

  toHash(secret: string): string {
    return this.keyedHash.of('credential secret', secret);
  }

  /** Throws SealError for a secret that was sealed for another owner, kind or credential. */
  open({ kind, owner_id, credential_id, sealed_secret }: SealedCredential): string {
    return this.secrets.open(toAssociatedData(kind, owner_id, credential_id), sealed_secret ?? '');
  }
}

type SealedCredential = Pick<Credential, 'kind' | 'owner_id' | 'credential_id' | 'sealed_secret'>;

function toAssociatedData(kind: CredentialKind, ownerId: string, id: string): string {
  return `${kind}/${ownerId}/secret/${id}`;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_DIGITS = 43;
const CHECK_DIGITS = 6;
const FORM = new RegExp(`^dsb_(live|test)_admin_[0-9A-Za-z]{${SECRET_DIGITS + CHECK_DIGITS}}$`);

type KeyMode = 'live' | 'test';

/** Returns the admin key `dsb_<live|test>_admin_<secret><check>` for 32 bytes (admin-api.md 1). */
export function adminSecret(mode: KeyMode, bytes: Uint8Array): string {
  const text = `dsb_${mode}_admin_${base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), SECRET_DIGITS)}`;
  return text + checksum(text);
}

export function isAdminSecret(mode: KeyMode, text: string): boolean {
  if (FORM.exec(text)?.[1] !== mode) return false;
  return checksum(text.slice(0, -CHECK_DIGITS)) === text.slice(-CHECK_DIGITS);
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECK_DIGITS);
}

function base62(number: bigint, length: number): string {
  let digits = '';
  for (let rest = number; rest > 0n; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits.padStart(length, '0');
}
