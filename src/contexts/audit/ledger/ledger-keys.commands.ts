import { CommandHandler } from '@nestjs/cqrs';
import {
  Operation,
  OperatorCommand,
  type EmptyParameters,
  type OperationHandler,
} from '../../../platform/operations/operation.js';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { Inject } from '@nestjs/common';
import { CLOCK, type Clock, timestamp } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import {
  type Head,
  headText,
  keyText,
  LedgerTampered,
  type SignedHead,
  type SigningKey,
  readKey,
} from './signed-head.js';
import { type SigningKeyRow, SigningKeys } from './heads.store.js';
import { sha256 } from '../../../kernel/sha256.js';
import type { LedgerFinding } from '../verify/findings.js';

export const LEDGER_SUBJECT = { scope: 'system:write', subject: 'ledger', streams: () => [] } as const;

@Operation({ ...LEDGER_SUBJECT, name: 'ledger.rotate_key' })
export class RotateLedgerKey extends OperatorCommand<EmptyParameters, SigningKey> {}

/** The keys that sign heads. The first is created with the ledger, later keys by `audit key rotate`. */
@CommandHandler(RotateLedgerKey)
export class LedgerKeys implements OperationHandler<RotateLedgerKey> {
  constructor(
    private readonly keys: SigningKeys,
    private readonly sealer: Sealer,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async sign(head: Omit<Head, 'key_id'>): Promise<SignedHead> {
    const key = await this.current();
    const named = { ...head, key_id: key.key_id };
    return { ...named, signature: signText(headText(named), this.openPrivateKey(key)) };
  }

  /** Creates a key and signs it with the present key. The private part of the present key is deleted. */
  async execute(): Promise<SigningKey> {
    const keys = await this.keys.change((present) => {
      const former = present.at(-1);
      if (former === undefined)
        throw new DomainError('invalid_transition', 'There is no key yet: the ledger has not begun');
      return this.make(former);
    });
    return readKey(keys.at(-1));
  }

  async begin(): Promise<void> {
    await this.keys.change((present) => (present.length > 0 ? null : this.make(null)));
  }

  async listOwn(): Promise<readonly SigningKey[]> {
    return (await this.keys.all()).filter((key) => isOwnKey(key, this.sealer));
  }

  private async current(): Promise<SigningKeyRow> {
    const newest = (await this.keys.all()).at(-1);
    if (newest === undefined) throw new LedgerTampered('audit.signing_keys was emptied');
    if (isOwnKey(newest, this.sealer)) return newest;
    throw new LedgerTampered(`the key ${newest.key_id} of audit.signing_keys was not created by the service`);
  }

  private make(former: SigningKeyRow | null): SigningKeyRow {
    const { publicKey, privateKey } = newKeyPair();
    const key = {
      key_id: toKeyId(publicKey),
      public_key: publicKey.toString('base64'),
      made_at: timestamp(this.clock),
      former_key_id: former?.key_id ?? null,
    };
    return {
      ...key,
      signature: former === null ? null : signText(keyText(key), this.openPrivateKey(former)),
      sealedPrivateKey: this.sealer.seal(privateKey, sealedPlace('signing-key', key)),
      sealedPublicKey: this.sealer.seal(publicKey, sealedPlace('public-key', key)),
    };
  }

  private openPrivateKey(key: SigningKeyRow): Buffer {
    if (key.sealedPrivateKey === null) throw new Error(`the private key of ${key.key_id} was deleted`);
    return this.sealer.openBytes(key.sealedPrivateKey, sealedPlace('signing-key', key));
  }
}

/** Checks that the service wrote a key row. Only a process with the master key can seal the public key. */
export function isOwnKey(key: SigningKeyRow, sealer: Pick<Sealer, 'openBytes'>): boolean {
  try {
    const bytes = sealer.openBytes(key.sealedPublicKey, sealedPlace('public-key', key));
    return bytes.toString('base64') === key.public_key && toKeyId(bytes) === key.key_id;
  } catch {
    return false;
  }
}

/** The associated data with which a private (`signing-key`) or public key is sealed. */
function sealedPlace(what: 'signing-key' | 'public-key', { key_id }: Pick<SigningKey, 'key_id'>): string {
  return `audit/${what}/${key_id}`;
}

export function newKeyPair(): { readonly publicKey: Buffer; readonly privateKey: Buffer } {
  return generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
}

export function toKeyId(publicKey: Buffer): string {
  return sha256(publicKey).toString('hex').slice(0, 16);
}

export function signText(text: string, privateKey: Buffer): string {
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  return sign(null, Buffer.from(text), key).toString('hex');
}

export function toPem({ public_key }: Pick<SigningKey, 'public_key'>): string {
  return readPublicKey(public_key).export({ type: 'spki', format: 'pem' }).toString();
}

/** Reads an Ed25519 public key in PEM. Throws for any other text. */
export function keyOfPem(pem: string): Pick<SigningKey, 'key_id' | 'public_key'> {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('not an Ed25519 key');
  const bytes = key.export({ type: 'spki', format: 'der' });
  return { key_id: toKeyId(bytes), public_key: bytes.toString('base64') };
}

export function isSignedHead(head: SignedHead, { public_key }: Pick<SigningKey, 'public_key'>): boolean {
  return verifies(headText(head), head.signature, public_key);
}

function isSignedKey(key: SigningKey, former: SigningKey): boolean {
  return (
    key.former_key_id === former.key_id &&
    key.signature !== null &&
    verifies(keyText(key), key.signature, former.public_key)
  );
}

function verifies(text: string, signature: string, publicKey: string): boolean {
  try {
    return verify(null, Buffer.from(text), readPublicKey(publicKey), Buffer.from(signature, 'hex'));
  } catch {
    return false;
  }
}

function readPublicKey(base64: string): KeyObject {
  return createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
}

/** Verifies heads by a chain of keys, from the key that the auditor trusts. */
export class HeadVerifier {
  readonly findings: LedgerFinding[] = [];
  private readonly keys = new Map<string, SigningKey>();
  /** The ids of the auditor's key and of the keys that follow it; null without an auditor's key. */
  private readonly trusted: Set<string> | null;

  /** `known` is the auditor's key; null trusts all keys. `sealer` proves that the service created a key. */
  constructor(
    private readonly logId: string,
    keys: readonly (SigningKey | SigningKeyRow)[],
    known: Pick<SigningKey, 'key_id' | 'public_key'> | null,
    sealer: Pick<Sealer, 'openBytes'> | null,
  ) {
    this.trusted = known === null ? null : new Set();
    let former: SigningKey | null = null;
    for (const key of keys) {
      const why = findWrong(key, former, sealer);
      if (why === null) this.keys.set(key.key_id, key);
      else this.findings.push({ kind: 'key', key_id: key.key_id, why });
      const follows = why === null && former !== null && this.trusted?.has(former.key_id) === true;
      if (key.public_key === known?.public_key || follows) this.trusted?.add(key.key_id);
      former = key;
    }
    if (known !== null && this.keys.get(known.key_id)?.public_key !== known.public_key)
      this.findings.push({ kind: 'key', key_id: known.key_id, why: 'the ledger does not know it' });
  }

  /** Returns the fault of a head, or null. */
  verify(head: SignedHead): string | null {
    const key = this.keys.get(head.key_id);
    if (head.log_id !== this.logId) return `it is of the log ${head.log_id}`;
    if (key === undefined) return `its key ${head.key_id} is unknown`;
    return isSignedHead(head, key) ? null : 'its signature is wrong';
  }

  /** Trusts the auditor's key and keys that it introduces, because a forger could invent an earlier key. */
  trusts({ key_id }: Pick<SignedHead, 'key_id'>): boolean {
    return this.trusted === null || this.trusted.has(key_id);
  }
}

function findWrong(
  key: SigningKey | SigningKeyRow,
  former: SigningKey | null,
  sealer: Pick<Sealer, 'openBytes'> | null,
): string | null {
  if (former === null ? key.former_key_id !== null : !isSignedKey(key, former))
    return 'the key before it did not sign it';
  if (sealer !== null && 'sealedPublicKey' in key && !isOwnKey(key, sealer))
    return 'the service did not create it';
  return null;
}
