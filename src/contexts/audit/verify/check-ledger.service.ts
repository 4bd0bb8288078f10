import { FindingList } from '../../../kernel/finding-list.js';
import { hashOfEvent, type ExportedEvent, type LeafEvent } from '../ledger/event-leaf.js';
import type { LedgerFinding } from './findings.js';
import { HASH_BYTES, MerkleTree } from '../ledger/merkle-tree.js';
import { hashOfHead, type SignedHead } from '../ledger/signed-head.js';
import type { Leaf, LedgerState } from '../ledger/ledger.store.js';
import type { HeadVerifier } from '../ledger/ledger-keys.commands.js';

/** The ledger to compare with a log. It is read before the log, which then has an event for each leaf. */
export interface LedgerInputs {
  /** The state of the ledger; null for an export, where only heads prove which events existed. */
  readonly state: LedgerState | null;
  readonly leaves: (index: number, limit: number) => Promise<readonly Leaf[]>;
  /** The signed heads to check, the smallest first. */
  readonly heads: AsyncIterable<SignedHead>;
  readonly trust: Pick<HeadVerifier, 'verify' | 'trusts' | 'findings'>;
  /** The heads that the auditor retained. Unlike the stored heads, they need not be consecutive. */
  readonly retained?: ReadonlySet<SignedHead>;
  /** Returns true for an event that the service did not write. Absent without the keys of the MACs. */
  readonly isForged?: (event: LeafEvent) => boolean | Promise<boolean>;
  /** The faults of the rows of `audit.ledger` and `audit.last_head`. */
  readonly forgedRows?: readonly string[];
}

export interface LedgerReport {
  readonly events: number;
  readonly unsigned: number;
  readonly heads: number;
  /** The largest valid, trusted head before the first head that contradicts the log. */
  readonly proven: SignedHead | null;
  readonly findings: readonly LedgerFinding[];
  readonly more: number;
}

const PAGE = 2000;
const MAX_FINDINGS = 100;
const UNTRUSTED = 'its key is older than the one that you brought, which does not prove it';
const NO_HASH = Buffer.alloc(HASH_BYTES);

/** A difference at one position: an event without a leaf, a leaf without an event, or a wrong leaf. */
interface Difference {
  readonly index: number;
  readonly event: LeafEvent | null;
  readonly leaf: Leaf | null;
}

/** Compares a log with the leaves, roots and signatures of its ledger. Only one page is in memory. */
export class LedgerCheck {
  private readonly log = new MerkleTree();
  private readonly leaves = new MerkleTree();
  private readonly nextLeaves: Ahead<Leaf>;
  private readonly nextHeads: Ahead<SignedHead>;
  private readonly differences = new FindingList<Difference>();
  private readonly findings = new FindingList<LedgerFinding>(MAX_FINDINGS);
  /** The position of the last leaf. */
  private lastPosition: string | null = null;
  private lastEvent: string | null = null;

  private heads = 0;
  /** The hash of the last stored head. */
  private previous: string | null = null;
  /** The last trusted head before the first head that contradicts the log. */
  private lastGood: SignedHead | null = null;
  /** The last untrusted head that agrees with the log. */
  private lastUntrusted: SignedHead | null = null;
  private firstBad: SignedHead | null = null;
  /** The largest head with a valid signature. */
  private largest: SignedHead | null = null;

  private constructor(private readonly ledger: LedgerInputs) {
    this.nextLeaves = new Ahead(leavesOf(ledger));
    this.nextHeads = new Ahead(ledger.heads);
  }

  static async begin(ledger: LedgerInputs): Promise<LedgerCheck> {
    const check = new LedgerCheck(ledger);
    await check.nextLeaves.advance();
    await check.nextHeads.advance();
    return check;
  }

  async add(events: readonly (LeafEvent | ExportedEvent)[]): Promise<void> {
    for (const event of events) {
      const hash = ('leaf' in event ? event.leaf : hashAt(event)) ?? NO_HASH;
      const isDifferent = this.ledger.state !== null && (await this.compare(event, hash));
      if (!isDifferent && (await this.ledger.isForged?.(event)))
        this.findings.add({ kind: 'forged', ...toPlace(event) });
      this.log.append(hash);
      this.lastEvent = event.position;
      await this.compareHeads(this.log.size);
    }
  }

  async end(): Promise<LedgerReport> {
    const { log, leaves, nextLeaves } = this;
    const isCut = nextLeaves.item !== null;
    for (let leaf = nextLeaves.item; leaf !== null; leaf = nextLeaves.item) await this.pass(leaf);
    await this.compareHeads(Infinity);
    const { state, trust, forgedRows = [] } = this.ledger;
    const proven = this.lastGood;
    for (const finding of toFindings(this.differences.listed, proven?.size ?? 0)) this.findings.add(finding);
    if (isCut) this.findings.add(this.truncated(leaves.size, null, this.lastPosition!));
    this.noteHeads();
    for (const what of forgedRows) this.note(what);
    if (state !== null) this.noteState(state);
    return {
      events: log.size,
      unsigned: log.size - (proven?.size ?? 0),
      heads: this.heads,
      proven,
      findings: [...trust.findings, ...this.findings.listed],
      more: this.differences.more + this.findings.more,
    };
  }

  private async compare(event: LeafEvent, hash: Buffer): Promise<boolean> {
    const position = BigInt(event.position);
    let leaf = this.nextLeaves.item;
    for (; leaf !== null && BigInt(leaf.position) < position; leaf = this.nextLeaves.item) {
      this.differs(null, leaf);
      await this.pass(leaf);
    }
    if (leaf?.position !== event.position) {
      // The follower has not yet added an event after the last leaf.
      if (leaf === null && position > BigInt(this.ledger.state!.position)) return false;
      this.differs(event, null);
      return true;
    }
    const isDifferent = !hash.equals(leaf.hash);
    if (isDifferent) this.differs(event, leaf);
    await this.pass(leaf);
    return isDifferent;
  }

  private differs(event: LeafEvent | null, leaf: Leaf | null): void {
    this.differences.add({ index: this.log.size, event, leaf });
  }

  private async pass(leaf: Leaf): Promise<void> {
    const { size } = this.leaves;
    if (leaf.index !== size) this.note(`leaf ${size} is missing before leaf ${leaf.index}`);
    this.lastPosition = leaf.position;
    const [, ...completed] = this.leaves.append(leaf.hash);
    if (!Buffer.concat(completed).equals(leaf.completed))
      this.note(`the subtree roots stored with leaf ${leaf.index} do not match the leaves`);
    await this.nextLeaves.advance();
  }

  private async compareHeads(size: number): Promise<void> {
    const { nextHeads, ledger, log } = this;
    for (let head = nextHeads.item; head !== null && head.size <= size; head = nextHeads.item) {
      await nextHeads.advance();
      this.heads += 1;
      if (!this.isGenuine(head)) continue;
      this.largest = head;
      if (head.size > log.size) continue;
      if (head.root !== log.root.toString('hex')) this.firstBad ??= head;
      else if (this.firstBad !== null) continue;
      else if (ledger.trust.trusts(head)) this.lastGood = head;
      else this.lastUntrusted = head;
    }
  }

  /** Checks a head's signature and chain. A head that fails proves nothing about the log. */
  private isGenuine(head: SignedHead): boolean {
    const { trust, retained, state } = this.ledger;
    const isStored = state !== null && retained?.has(head) !== true;
    const isNext = !isStored || head.previous === this.previous;
    if (isStored) this.previous = hashOfHead(head);
    const why = trust.verify(head) ?? (isNext ? null : 'it does not follow the head before it');
    if (why !== null) this.findings.add({ kind: 'head', size: head.size, why });
    return why === null;
  }

  private noteHeads(): void {
    const { firstBad, lastGood, lastUntrusted, largest, log } = this;
    // A head of the auditor's key covers the smaller heads of earlier keys.
    if (lastUntrusted !== null && lastUntrusted.size > (lastGood?.size ?? 0))
      this.findings.add({ kind: 'head', size: lastUntrusted.size, why: UNTRUSTED });
    if (firstBad !== null) {
      const { size, signed_at } = firstBad;
      this.findings.add({ kind: 'rewritten', size, since: lastGood?.size ?? 0, signed_at });
    }
    if (largest !== null && largest.size > log.size) {
      const { size, signed_at, position } = largest;
      this.findings.add(this.truncated(size, signed_at, position));
    }
  }

  private truncated(size: number, signed_at: string | null, ended_at: string): LedgerFinding {
    return { kind: 'truncated', events: this.log.size, size, signed_at, ends_at: this.lastEvent, ended_at };
  }

  private noteState({ tree, position }: LedgerState): void {
    const { leaves, lastPosition, largest } = this;
    if (tree.size !== leaves.size) this.note(`found ${leaves.size} leaves, expected ${tree.size}`);
    else {
      if (!tree.root.equals(leaves.root)) this.note('audit.ledger has another root than its leaves');
      if (position !== lastPosition) this.note('the position in audit.ledger is not that of the last leaf');
    }
    if (largest !== null && largest.size > leaves.size)
      this.note(`the leaves end before event ${largest.size}, the last one of a signed head`);
  }

  private note(what: string): void {
    this.findings.add({ kind: 'ledger', what });
  }
}

/** An iterator that exposes its next item. */
class Ahead<T> {
  /** The next item; null before the first {@link advance} and after the last item. */
  item: T | null = null;
  private readonly rest: AsyncIterator<T>;

  constructor(items: AsyncIterable<T>) {
    this.rest = items[Symbol.asyncIterator]();
  }

  async advance(): Promise<void> {
    const { done, value } = await this.rest.next();
    this.item = done ? null : value;
  }
}

async function* leavesOf({ state, leaves }: LedgerInputs): AsyncGenerator<Leaf> {
  const size = state?.tree.size ?? 0;
  for (let index = 0; index < size;) {
    const page = await leaves(index, Math.min(PAGE, size - index));
    yield* page.filter((leaf) => leaf.index < size);
    index = (page.at(-1)?.index ?? Infinity) + 1;
  }
}

/** Returns the leaf hash, or null for an event without canonical JSON. */
function hashAt(event: LeafEvent, position?: string): Buffer | null {
  try {
    return hashOfEvent(event, position);
  } catch {
    return null;
  }
}

/** Converts differences to findings. The first `proven` events are signed, so their stored leaf was changed. */
function toFindings(differences: readonly Difference[], proven: number): readonly LedgerFinding[] {
  const origins = new Map(differences.map((each) => [each, findOrigin(each, differences)]));
  const moved = new Set(origins.values());
  return differences.flatMap((difference): readonly LedgerFinding[] => {
    const { index, event, leaf } = difference;
    const position = event?.position ?? leaf!.position;
    if (index < proven)
      return [{ kind: 'ledger', what: `the leaf at position ${position} is not that of the event` }];
    if (event === null) return moved.has(leaf) ? [] : [{ kind: 'deleted', position }];
    const place = toPlace(event);
    const origin = origins.get(difference);
    if (origin) return [{ kind: 'moved', ...place, from: origin.position }];
    if (leaf === null) return [{ kind: 'inserted', ...place }];
    return [{ kind: hashAt(event) ? 'changed' : 'unreadable', ...place }];
  });
}

function toPlace({ position, stream, revision, id }: LeafEvent) {
  return { position, stream, revision, id };
}

/** Finds the leaf of the same event at another position, or null. */
function findOrigin({ event }: Difference, differences: readonly Difference[]): Leaf | null {
  if (event === null || hashAt(event) === null) return null;
  const isOrigin = (leaf: Leaf | null): boolean =>
    leaf !== null && hashAt(event, leaf.position)?.equals(leaf.hash) === true;
  return differences.find(({ leaf }) => isOrigin(leaf))?.leaf ?? null;
}
