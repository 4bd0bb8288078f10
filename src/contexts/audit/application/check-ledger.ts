import { canonicalJson, eventLeaf, hashOfEvent, leafHash, type LeafEvent } from '../domain/event-leaf.js';
import type { LedgerFinding } from '../domain/findings.js';
import { HASH_BYTES, MerkleTree } from '../domain/merkle-tree.js';
import { hashOfHead, type SignedHead } from '../domain/signed-head.js';
import type { Leaf, LedgerState } from '../store/ledger.js';
import { HeadRoots, type ReadHeads } from './head-checks.js';

/** What a log is compared with. All of it is read before the first event, so that the log has every event it covers. */
export interface CheckedLedger {
  /** Null: no leaves are at hand, as for an export; only the heads prove which events there were. */
  readonly state: LedgerState | null;
  /** Leaves from `index` on. */
  readonly leaves: (index: number, limit: number) => Promise<readonly Leaf[]>;
  readonly heads: ReadHeads;
  /** What is wrong with the signature of a head; null when it is good. */
  readonly verify: (head: SignedHead) => string | null;
  /** Heads that the auditor retained, and that are not stored: the stored ones alone form a chain. Absent: none. */
  readonly isRetained?: (head: SignedHead) => boolean;
  /** Whether a good head is signed by a key that the auditor knows, or one that follows from it; absent: all are. */
  readonly isTrusted?: (head: SignedHead) => boolean;
  /** Whether the service did not write the event; absent: the keys that say so are not at hand. */
  readonly isForged?: (event: LeafEvent) => boolean | Promise<boolean>;
  /** What is wrong with the rows that the follower and the signer authenticate. */
  readonly forgedRows?: readonly string[];
  /** What is wrong with the keys. */
  readonly keyFindings?: readonly LedgerFinding[];
}

export interface LedgerReport {
  /** Events of the log. */
  readonly events: number;
  /** Those behind `proven`: no head that the log agrees with covers them. */
  readonly unsigned: number;
  readonly heads: number;
  /** The largest head that is well signed and that the log agrees with, as with all before it. */
  readonly proven: SignedHead | null;
  readonly findings: readonly LedgerFinding[];
  /** Findings that were not kept. */
  readonly more: number;
}

const PAGE = 2000;
const MAX_FINDINGS = 100;

/** Compares the whole log, page by page, with the ledger: {@link LedgerCheck}. */
export async function checkLedger(
  pages: AsyncIterable<readonly LeafEvent[]>,
  ledger: CheckedLedger,
): Promise<LedgerReport> {
  const check = new LedgerCheck(ledger);
  for await (const page of pages) await check.see(page);
  return check.end();
}

/**
 * Compares a stream of events with the leaves of the ledger, the root of every head and the signatures. Memory: a page of
 * each and two frontiers, however long the log is. Changes nothing.
 */
export class LedgerCheck {
  private readonly log = new MerkleTree();
  private readonly leaves = new MerkleTree();
  private readonly logRoots: HeadRoots;
  private readonly leafRoots: HeadRoots;
  private readonly differences = new DifferencesOfLog();
  private readonly findings: LedgerFinding[] = [];
  private more = 0;
  private page: readonly Leaf[] = [];
  private place = 0;
  private nextIndex = 0;
  private lastPosition: string | null = null;

  constructor(private readonly ledger: CheckedLedger) {
    this.leafRoots = new HeadRoots(ledger.heads, (head) => ledger.verify(head) === null);
    let previous: string | null = null;
    const noted = (head: SignedHead): boolean => {
      const isStored = ledger.state !== null && ledger.isRetained?.(head) !== true;
      const isNext = !isStored || head.previous === previous;
      if (isStored) previous = hashOfHead(head);
      const why = ledger.verify(head) ?? (isNext ? null : 'it does not follow the head before it');
      if (why !== null) this.note({ kind: 'head', size: head.size, why });
      return why === null;
    };
    this.logRoots = new HeadRoots(ledger.heads, noted, ledger.isTrusted);
  }

  /** The next events of the log, in order. */
  async see(events: readonly LeafEvent[]): Promise<void> {
    for (const event of events) {
      const hash = hashOf(event);
      const isDifferent = this.ledger.state !== null && (await this.compare(event, hash ?? NO_HASH));
      if (!isDifferent && (await this.ledger.isForged?.(event))) {
        const { position, stream, revision, id } = event;
        this.note({ kind: 'forged', position, stream, revision, id });
      }
      this.log.append(hash ?? NO_HASH);
      if (this.logRoots.isDue(this.log.size)) await this.logRoots.compare(this.log);
    }
  }

  /** After the last event. */
  async end(): Promise<LedgerReport> {
    const { log, leaves, logRoots, leafRoots, differences } = this;
    const isCut = (await this.leaf()) !== null;
    for (let leaf = await this.leaf(); leaf !== null; leaf = await this.leaf()) await this.pass(leaf);
    await logRoots.finish(log);
    await leafRoots.finish(leaves);
    const proven = logRoots.lastGood;
    for (const finding of differences.findings(proven?.size ?? 0)) this.note(finding);
    this.more += differences.left;
    const { state } = this.ledger;
    if (isCut) this.note({ kind: 'truncated', events: log.size, size: leaves.size, signed_at: null });
    this.noteRoots();
    for (const what of this.ledger.forgedRows ?? []) this.note({ kind: 'ledger', what });
    if (state !== null) this.checkLeaves(state);
    return {
      events: log.size,
      unsigned: log.size - (proven?.size ?? 0),
      heads: logRoots.count,
      proven,
      findings: [...(this.ledger.keyFindings ?? []), ...this.findings],
      more: this.more,
    };
  }

  /** Whether the event is another one than the ledger has. */
  private async compare(event: LeafEvent, hash: Buffer): Promise<boolean> {
    const index = this.log.size;
    let leaf = this.page[this.place] ?? (await this.leaf());
    if (leaf === null || leaf.position !== event.position) {
      const position = BigInt(event.position);
      while (leaf !== null && BigInt(leaf.position) < position) {
        this.differences.add({ index, event: null, leaf });
        await this.pass(leaf);
        leaf = await this.leaf();
      }
      // Behind the last leaf: it is not one yet.
      if (leaf === null && position > BigInt(this.ledger.state!.position)) return false;
      if (leaf?.position !== event.position) {
        this.differences.add({ index, event, leaf: null });
        return true;
      }
    }
    const isDifferent = !hash.equals(leaf.hash);
    if (isDifferent) this.differences.add({ index, event, leaf });
    await this.pass(leaf);
    return isDifferent;
  }

  private async pass(leaf: Leaf): Promise<void> {
    const { leaves } = this;
    if (leaf.index !== leaves.size)
      this.note({ kind: 'ledger', what: `leaf ${leaves.size} is missing, ${leaf.index} follows` });
    this.place += 1;
    this.lastPosition = leaf.position;
    const [, ...completed] = leaves.append(leaf.hash);
    const kept = leaf.completed;
    const isRight =
      kept.length === completed.length * HASH_BYTES &&
      completed.every(
        (hash, place) => hash.compare(kept, place * HASH_BYTES, (place + 1) * HASH_BYTES) === 0,
      );
    if (!isRight)
      this.note({ kind: 'ledger', what: `the subtrees of leaf ${leaf.index} are not those over its leaves` });
    if (this.leafRoots.isDue(leaves.size)) await this.leafRoots.compare(leaves);
  }

  private async leaf(): Promise<Leaf | null> {
    const { state } = this.ledger;
    if (this.place === this.page.length && state !== null && this.nextIndex < state.tree.size) {
      // Those that came since are not part of this check.
      const most = Math.min(PAGE, state.tree.size - this.nextIndex);
      this.page = (await this.ledger.leaves(this.nextIndex, most)).filter(
        ({ index }) => index < state.tree.size,
      );
      this.place = 0;
      this.nextIndex = (this.page.at(-1)?.index ?? Infinity) + 1;
    }
    return this.page[this.place] ?? null;
  }

  private noteRoots(): void {
    const { firstBad, lastGood, lastUntrusted, beyond } = this.logRoots;
    // Below a head of the known key, heads of the keys before it are no more than what it covers anyway.
    if (lastUntrusted !== null && lastUntrusted.size > (lastGood?.size ?? 0))
      this.note({ kind: 'head', size: lastUntrusted.size, why: UNTRUSTED });
    if (firstBad !== null) {
      const { size, signed_at } = firstBad;
      this.note({ kind: 'rewritten', size, since: lastGood?.size ?? 0, signed_at });
    }
    if (beyond !== null) {
      const { size, signed_at } = beyond;
      this.note({ kind: 'truncated', events: this.log.size, size, signed_at });
    }
  }

  private checkLeaves({ tree, position }: LedgerState): void {
    const { leaves, leafRoots } = this;
    const whats = [
      tree.size !== leaves.size && `there are ${leaves.size} leaves of ${tree.size}`,
      tree.size === leaves.size &&
        !tree.root.equals(leaves.root) &&
        'audit.ledger has another root than its leaves',
      tree.size === leaves.size &&
        position !== this.lastPosition &&
        'audit.ledger names another last position',
      leafRoots.firstBad !== null &&
        `the leaves are not those of the head over ${leafRoots.firstBad.size} events`,
      leafRoots.beyond !== null &&
        `there are fewer leaves than the head over ${leafRoots.beyond.size} events had`,
    ];
    for (const what of whats) if (what !== false) this.note({ kind: 'ledger', what });
  }

  private note(finding: LedgerFinding): void {
    if (this.findings.length < MAX_FINDINGS) this.findings.push(finding);
    else this.more += 1;
  }
}

const UNTRUSTED = 'its key is older than the one that you brought, which does not prove it';

/** Of no event. */
const NO_HASH = Buffer.alloc(HASH_BYTES);

/** Null when the event cannot be read. */
function hashOf(event: LeafEvent): Buffer | null {
  try {
    return hashOfEvent(event);
  } catch {
    return null;
  }
}

type KnownLeaf = Pick<Leaf, 'position' | 'hash'>;

/** One place where log and leaves differ: an event, a leaf, or both at one position. */
interface Difference {
  /** Number of events of the log before it. */
  readonly index: number;
  readonly event: LeafEvent | null;
  readonly leaf: KnownLeaf | null;
}

/** Most of them that are kept, with their events. */
const MOST = 50;

/** Where the log and the leaves of the ledger differ, classified at the end. */
class DifferencesOfLog {
  private readonly kept: Difference[] = [];
  /** How many were not kept. */
  left = 0;

  add(difference: Difference): void {
    if (this.kept.length < MOST) this.kept.push(difference);
    else this.left += 1;
  }

  /** `proven`: so many events of the log are those that were signed, so that a difference there is the ledger's. */
  findings(proven: number): readonly LedgerFinding[] {
    const origins = new Map(this.kept.map((difference) => [difference, this.originOf(difference)]));
    const moved = new Set(origins.values());
    return this.kept.flatMap((difference): readonly LedgerFinding[] => {
      const { index, event, leaf } = difference;
      const position = event?.position ?? leaf!.position;
      if (index < proven)
        return [{ kind: 'ledger', what: `the leaf at position ${position} is not that of the event` }];
      if (event === null) return moved.has(leaf) ? [] : [{ kind: 'deleted', position }];
      const { stream, revision, id } = event;
      const origin = origins.get(difference);
      if (origin) return [{ kind: 'moved', position, from: origin.position, stream, id }];
      if (leaf === null) return [{ kind: 'inserted', position, stream, id }];
      return [{ kind: isReadable(event) ? 'changed' : 'unreadable', position, stream, revision, id }];
    });
  }

  /** The leaf of an event that is the same but for its position. */
  private originOf({ event }: Difference): KnownLeaf | null {
    if (event === null || !isReadable(event)) return null;
    const origin = this.kept.find(
      ({ leaf }) =>
        leaf !== null &&
        leafHash(canonicalJson({ ...eventLeaf(event), position: leaf.position })).equals(leaf.hash),
    );
    return origin?.leaf ?? null;
  }
}

function isReadable(event: LeafEvent): boolean {
  try {
    return eventLeaf(event) !== null && canonicalJson(eventLeaf(event)) !== '';
  } catch {
    return false;
  }
}
