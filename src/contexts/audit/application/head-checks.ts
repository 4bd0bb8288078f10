import type { MerkleTree } from '../domain/merkle-tree.js';
import { headText, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import type { Sealer } from '../../../platform/sealing/sealer.js';
import type { LedgerFinding } from '../domain/findings.js';
import type { KeptKey } from '../store/signing-keys.js';
import { isOwnKey, isSignedHead, isSignedKey } from './ledger-keys.js';

/** Heads of more than `size` events, in order of their sizes; all of the last size that there are, at most about `limit`. */
export type ReadHeads = (size: number, limit: number) => Promise<readonly SignedHead[]>;

const PAGE = 500;

/** Compares a growing tree with the root of every head that it passes. */
export class HeadRoots {
  /** The last trusted head that agreed before the first that did not. */
  lastGood: SignedHead | null = null;
  /** The last one that agreed and is not trusted. */
  lastUntrusted: SignedHead | null = null;
  firstBad: SignedHead | null = null;
  /** The largest head that the tree did not come to. */
  beyond: SignedHead | null = null;
  count = 0;
  private page: readonly SignedHead[] = [];
  private place = 0;
  private isOver = false;

  constructor(
    private readonly read: ReadHeads,
    /** Heads that are not say nothing of the tree. */
    private readonly isGenuine: (head: SignedHead) => boolean,
    /** Heads that are not prove nothing, and what contradicts them is wrong all the same. */
    private readonly isTrusted: (head: SignedHead) => boolean = () => true,
  ) {}

  /** Whether {@link compare} has something to do. */
  isDue(size: number): boolean {
    const next = this.page[this.place];
    return next === undefined ? !this.isOver : next.size <= size;
  }

  async compare(tree: MerkleTree): Promise<void> {
    for (let next = await this.next(); next !== null && next.size <= tree.size; next = await this.next()) {
      if (!this.take(next)) continue;
      if (next.size !== tree.size || next.root !== tree.root.toString('hex')) this.firstBad ??= next;
      else if (this.firstBad !== null) continue;
      else if (this.isTrusted(next)) this.lastGood = next;
      else this.lastUntrusted = next;
    }
  }

  /** After the last leaf. */
  async finish(tree: MerkleTree): Promise<void> {
    await this.compare(tree);
    for (let next = await this.next(); next !== null; next = await this.next())
      if (this.take(next)) this.beyond = next;
  }

  private async next(): Promise<SignedHead | null> {
    if (this.place === this.page.length && !this.isOver) {
      this.page = await this.read(this.page.at(-1)?.size ?? 0, PAGE);
      this.place = 0;
      this.isOver = this.page.length === 0;
    }
    return this.page[this.place] ?? null;
  }

  private take(head: SignedHead): boolean {
    this.place += 1;
    this.count += 1;
    return this.isGenuine(head);
  }
}

/** Verdicts on heads that are cached: each head is verified twice. */
const REMEMBERED = 2000;

/** Whose signatures count: keys that follow one another, from one that the auditor knows. */
export class HeadTrust {
  readonly findings: LedgerFinding[] = [];
  private readonly keys = new Map<string, SigningKey>();
  private readonly verdicts = new Map<string, string | null>();
  /** The key that the auditor knows, and those that follow from it; null: the auditor knows none. */
  private readonly trusted: Set<string> | null;

  /**
   * `known`: the public key that the auditor got some other way. `sealer`: that of the master key, where it is at hand:
   * it proves which keys the service created.
   */
  constructor(
    private readonly logId: string,
    keys: readonly (SigningKey | KeptKey)[],
    known: Pick<SigningKey, 'key_id' | 'public_key'> | null,
    sealer: Pick<Sealer, 'openBytes'> | null,
  ) {
    this.trusted = known === null ? null : new Set();
    let former: SigningKey | null = null;
    for (const key of keys) {
      const why = this.checkKey(key, former, sealer);
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
    const identity = head.signature + headText(head);
    const known = this.verdicts.get(identity);
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
    this.verdicts.set(identity, why);
    return why;
  }

  /**
   * Whether its key is the one that the auditor knows, or follows from it. Nothing follows for the keys before: the
   * creator of a key can sign any other with it.
   */
  trusts({ key_id }: SignedHead): boolean {
    return this.trusted === null || this.trusted.has(key_id);
  }

  private checkKey(
    key: SigningKey | KeptKey,
    former: SigningKey | null,
    sealer: Pick<Sealer, 'openBytes'> | null,
  ): string | null {
    if (former === null ? key.former_key_id !== null : !isSignedKey(key, former))
      return 'the key before it did not sign it';
    if (sealer !== null && 'sealedPublicKey' in key && !isOwnKey(key, sealer))
      return 'the service did not create it';
    return null;
  }
}
