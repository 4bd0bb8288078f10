import { canonicalJson, eventLeaf, leafHash, type StoredEvent } from '../domain/event-leaf.js';
import type { LedgerFinding } from '../domain/ledger-findings.js';
import type { Leaf } from '../store/ledger.js';

type KnownLeaf = Pick<Leaf, 'position' | 'hash'>;

/** One place where log and leaves differ: an event, a leaf, or both at one position. */
interface Difference {
  /** How many events of the log stand before it. */
  readonly index: number;
  readonly event: StoredEvent | null;
  readonly leaf: KnownLeaf | null;
}

/** Most of them that are kept, with their events. */
const MOST = 50;

/** Where the log and the leaves of the ledger differ, told apart once all is known. */
export class DifferencesOfLog {
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

function isReadable(event: StoredEvent): boolean {
  try {
    return eventLeaf(event) !== null && canonicalJson(eventLeaf(event)) !== '';
  } catch {
    return false;
  }
}
