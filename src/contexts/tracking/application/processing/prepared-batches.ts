import { readItems } from '../batch-items.js';
import type { AcceptedBatch } from './accepted-batches.js';
import { EventRows } from './event-rows.js';

/** A batch whose body is not what could have been accepted. */
export class UnreadableBatch extends Error {
  override readonly name = 'UnreadableBatch';
}

const UUID_BYTES = 16;
/** Of the size of bodies, which also hold the names of members. */
const EXPECTED_SHARE = 1.2;

interface Candidate {
  readonly batch: number;
  readonly item: number;
}

/**
 * Batches of one merchant on their way into tracking.events: read, deduplicated among themselves (the first accepted
 * wins), in the order of their ids, which is that of the indexes, and as bytes for COPY.
 */
export class PreparedBatches {
  /** The ids, 16 bytes each. */
  readonly ids: Buffer;
  /** Whose ids these are: what is left of all items. */
  private readonly candidates: readonly Candidate[];
  private readonly rows: EventRows;
  private readonly itemCounts: readonly number[];

  /** Throws when a body cannot be read. Events get no earlier `received_at` than `openFrom`. */
  constructor(
    readonly merchant: Buffer,
    readonly batches: readonly AcceptedBatch[],
    openFrom: bigint | null = null,
  ) {
    const read = batches.map(itemsOf);
    this.itemCounts = read.map(({ length }) => length);
    const seen = new Set<string>();
    const candidates: (Candidate & { readonly order: number })[] = [];
    read.forEach((items, batch) =>
      items.forEach(({ eventId }, item) => {
        if (seen.has(eventId)) return;
        seen.add(eventId);
        candidates.push({ batch, item, order: parseInt(eventId.slice(0, 8), 16) });
      }),
    );
    candidates.sort((a, b) => a.order - b.order);
    this.candidates = candidates;
    this.ids = Buffer.allocUnsafe(candidates.length * UUID_BYTES);
    const bytes = batches.reduce((sum, { body }) => sum + body.length, 0);
    this.rows = new EventRows(merchant, Math.ceil(bytes * EXPECTED_SHARE));
    candidates.forEach(({ batch, item }, index) => {
      const each = read[batch]![item]!;
      this.ids.write(each.eventId.replaceAll('-', ''), index * UUID_BYTES, 'hex');
      const { receivedAt } = batches[batch]!;
      const at = openFrom !== null && receivedAt < openFrom ? openFrom : receivedAt;
      this.rows.add(each, this.ids, index * UUID_BYTES, at);
    });
  }

  get items(): number {
    return this.itemCounts.reduce((a, b) => a + b, 0);
  }

  /** Rows of the candidates whose numbers are not in `known`. */
  copyData(known: ReadonlySet<number>): Buffer[] {
    return this.rows.copyData(known.size === 0 ? undefined : (row) => !known.has(row));
  }

  /** For each batch one bit per item, the first in the highest bit of the first byte: set when it is new. */
  newItems(known: ReadonlySet<number>): Buffer[] {
    const bits = this.itemCounts.map((count) => Buffer.alloc(Math.ceil(count / 8)));
    this.candidates.forEach(({ batch, item }, index) => {
      if (!known.has(index)) bits[batch]![item >> 3]! |= 0x80 >> (item & 7);
    });
    return bits;
  }
}

function itemsOf({ body, itemCount }: AcceptedBatch): ReturnType<typeof readItems> {
  const items = readItems(body);
  if (items.length !== itemCount) throw new RangeError(`${items.length} items instead of ${itemCount}`);
  return items;
}
