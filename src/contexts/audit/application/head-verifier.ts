import type { SignedHead, SigningKey } from '../domain/signed-head.js';
import type { Sealer } from '../../../platform/sealing/sealer.js';
import type { LedgerFinding } from '../domain/findings.js';
import type { StoredSigningKey } from '../store/signing-keys.js';
import { isOwnKey, isSignedHead, isSignedKey } from './ledger-keys.js';

/** Whose signatures count: keys that follow one another, from one that the auditor knows. */
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
    keys: readonly (SigningKey | StoredSigningKey)[],
    known: Pick<SigningKey, 'key_id' | 'public_key'> | null,
    sealer: Pick<Sealer, 'openBytes'> | null,
  ) {
    this.trusted = known === null ? null : new Set();
    let former: SigningKey | null = null;
    for (const key of keys) {
      const why = wrongOf(key, former, sealer);
      if (why === null) this.keys.set(key.key_id, key);
      else this.findings.push({ kind: 'key', key_id: key.key_id, why });
      const follows = why === null && former !== null && this.trusted?.has(former.key_id) === true;
      if (key.public_key === known?.public_key || follows) this.trusted?.add(key.key_id);
      former = key;
    }
    if (known !== null && this.keys.get(known.key_id)?.public_key !== known.public_key)
      this.findings.push({ kind: 'key', key_id: known.key_id, why: 'the ledger does not know it' });
  }

  /** What is wrong with a head; null when it is good. */
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

/** Null: the key is good. */
function wrongOf(
  key: SigningKey | StoredSigningKey,
  former: SigningKey | null,
  sealer: Pick<Sealer, 'openBytes'> | null,
): string | null {
  if (former === null ? key.former_key_id !== null : !isSignedKey(key, former))
    return 'the key before it did not sign it';
  if (sealer !== null && 'sealedPublicKey' in key && !isOwnKey(key, sealer))
    return 'the service did not create it';
  return null;
}
