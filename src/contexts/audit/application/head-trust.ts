import type { Sealer } from '../../../platform/sealing/sealer.js';
import type { LedgerFinding } from '../domain/ledger-findings.js';
import { headText, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import type { KeptKey } from '../store/signing-keys.js';
import { isOwnKey } from './ledger-keys.js';
import { isSignedHead, isSignedKey } from './signatures.js';

/** Verdicts on heads that are remembered: two look at each. */
const REMEMBERED = 2000;

/** Whose signatures count: keys that follow one another, from one that the auditor knows. */
export class HeadTrust {
  readonly findings: LedgerFinding[] = [];
  private readonly keys = new Map<string, SigningKey>();
  private readonly verdicts = new Map<string, string | null>();
  /** The key that the auditor knows, and those that follow from it; null: the auditor knows none. */
  private readonly vouched: Set<string> | null;

  /**
   * `known`: the public key that the auditor got some other way. `sealer`: that of the master key, where it is at hand:
   * it tells which keys the service itself has made.
   */
  constructor(
    private readonly logId: string,
    keys: readonly (SigningKey | KeptKey)[],
    known: Pick<SigningKey, 'key_id' | 'public_key'> | null,
    sealer: Pick<Sealer, 'openBytes'> | null,
  ) {
    this.vouched = known === null ? null : new Set();
    let former: SigningKey | null = null;
    for (const key of keys) {
      const why = this.judgeKey(key, former, sealer);
      if (why === null) this.keys.set(key.key_id, key);
      else this.findings.push({ kind: 'key', key_id: key.key_id, why });
      const follows = why === null && former !== null && this.vouched?.has(former.key_id) === true;
      if (key.public_key === known?.public_key || follows) this.vouched?.add(key.key_id);
      former = key;
    }
    if (known !== null && this.keys.get(known.key_id)?.public_key !== known.public_key)
      this.findings.push({ kind: 'key', key_id: known.key_id, why: 'the ledger does not know it' });
  }

  /** What is wrong with a head; null when it is good. */
  judge(head: SignedHead): string | null {
    const told = head.signature + headText(head);
    const known = this.verdicts.get(told);
    if (known !== undefined) return known;
    const key = this.keys.get(head.key_id);
    const why =
      head.log_id !== this.logId
        ? `it is of the log ${head.log_id}`
        : key === undefined
          ? `its key ${head.key_id} is unknown`
          : isSignedHead(head, key)
            ? null
            : 'its signature is wrong';
    if (this.verdicts.size >= REMEMBERED) this.verdicts.clear();
    this.verdicts.set(told, why);
    return why;
  }

  /**
   * Whether its key is the one that the auditor knows, or follows from it. Nothing follows of the keys before: whoever
   * makes a key can have it sign any other.
   */
  vouchesFor({ key_id }: SignedHead): boolean {
    return this.vouched === null || this.vouched.has(key_id);
  }

  private judgeKey(
    key: SigningKey | KeptKey,
    former: SigningKey | null,
    sealer: Pick<Sealer, 'openBytes'> | null,
  ): string | null {
    if (former === null ? key.former_key_id !== null : !isSignedKey(key, former))
      return 'the key before it did not sign it';
    if (sealer !== null && 'sealedPublicKey' in key && !isOwnKey(key, sealer))
      return 'the service did not make it';
    return null;
  }
}
