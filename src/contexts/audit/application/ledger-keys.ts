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
} from '../domain/signed-head.js';
import { type SigningKeyRow, SigningKeys } from '../store/heads.js';
import { sha256 } from '../../../kernel/sha256.js';
import type { LedgerFinding } from '../domain/findings.js';

/** The facts of operations on the ledger over the log. */
export const LEDGER_SUBJECT = { scope: 'system:write', subject: 'ledger', streams: () => [] } as const;

/** A program requests it. */
@Operation({ ...LEDGER_SUBJECT, name: 'ledger.rotate_key' })
export class RotateLedgerKey extends OperatorCommand<EmptyParameters, SigningKey> {}

/** The keys that sign heads: the first is created when the ledger begins, later ones by `audit key rotate`. */
@CommandHandler(RotateLedgerKey)
export class LedgerKeys implements OperationHandler<RotateLedgerKey> {
  constructor(
    private readonly keys: SigningKeys,
    private readonly sealer: Sealer,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Signs with the newest key. */
  async sign(head: Omit<Head, 'key_id'>): Promise<SignedHead> {
    const key = await this.current();
    const named = { ...head, key_id: key.key_id };
    return { ...named, signature: signText(headText(named), this.openPrivateKey(key)) };
  }

  /** A new key, signed by the one before, which signs nothing after that. Throws `invalid_transition` before the first head. */
  async execute(): Promise<SigningKey> {
    const keys = await this.keys.change((present) => {
      const former = present.at(-1);
      if (former === undefined)
        throw new DomainError('invalid_transition', 'There is no key yet: the ledger has not begun');
      return this.make(former);
    });
    return readKey(keys.at(-1));
  }

  /** Creates the first key, where there is none. */
  async begin(): Promise<void> {
    await this.keys.change((present) => (present.length > 0 ? null : this.make(null)));
  }

  /** Lists the keys that the service created, from the first on. */
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
      sealedPrivateKey: this.sealer.seal(privateKey, placeOfPrivate(key)),
      sealedPublicKey: this.sealer.seal(publicKey, placeOfPublic(key)),
    };
  }

  private openPrivateKey(key: SigningKeyRow): Buffer {
    if (key.sealedPrivateKey === null) throw new Error(`the private key of ${key.key_id} is not kept`);
    return this.sealer.openBytes(key.sealedPrivateKey, placeOfPrivate(key));
  }
}

/** Checks that a process with the master key wrote this row. Only such processes can seal. */
export function isOwnKey(key: SigningKeyRow, sealer: Pick<Sealer, 'openBytes'>): boolean {
  try {
    const bytes = sealer.openBytes(key.sealedPublicKey, placeOfPublic(key));
    return bytes.toString('base64') === key.public_key && toKeyId(bytes) === key.key_id;
  } catch {
    return false;
  }
}

function placeOfPrivate({ key_id }: Pick<SigningKey, 'key_id'>): string {
  return `audit/signing-key/${key_id}`;
}

function placeOfPublic({ key_id }: Pick<SigningKey, 'key_id'>): string {
  return `audit/public-key/${key_id}`;
}

/** A new Ed25519 pair: the public key as SubjectPublicKeyInfo, the private one as PKCS #8, both DER. */
export function newKeyPair(): { readonly publicKey: Buffer; readonly privateKey: Buffer } {
  return generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
}

export function toKeyId(publicKey: Buffer): string {
  return sha256(publicKey).toString('hex').slice(0, 16);
}

/** Signs and returns hex. `privateKey` is PKCS #8. */
export function signText(text: string, privateKey: Buffer): string {
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  return sign(null, Buffer.from(text), key).toString('hex');
}

export function toPem({ public_key }: Pick<SigningKey, 'public_key'>): string {
  return readPublicKey(public_key).export({ type: 'spki', format: 'pem' }).toString();
}

/** Throws where the PEM text holds no Ed25519 key. */
export function keyOfPem(pem: string): Pick<SigningKey, 'key_id' | 'public_key'> {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('not an Ed25519 key');
  const bytes = key.export({ type: 'spki', format: 'der' });
  return { key_id: toKeyId(bytes), public_key: bytes.toString('base64') };
}

export function isSignedHead(head: SignedHead, { public_key }: Pick<SigningKey, 'public_key'>): boolean {
  return verifies(headText(head), head.signature, public_key);
}

/** Checks that `former` signed `key`. */
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

/** Verifies heads by keys that follow one another, from one that the auditor trusts. */
export class HeadVerifier {
  readonly findings: LedgerFinding[] = [];
  private readonly keys = new Map<string, SigningKey>();
  /** The key that the auditor knows, and those that follow from it; null: the auditor knows none. */
  private readonly trusted: Set<string> | null;

  /**
   * `known`: the public key that the auditor got some other way. `sealer`: that of the master key, where it is at hand:
   * it proves which keys the service created.
   */
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

  /**
   * Whether its key is the one that the auditor knows, or follows from it. Nothing follows for the keys before: the
   * creator of a key can sign any other with it.
   */
  trusts({ key_id }: Pick<SignedHead, 'key_id'>): boolean {
    return this.trusted === null || this.trusted.has(key_id);
  }
}

/** Returns the fault of a key, or null. */
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
