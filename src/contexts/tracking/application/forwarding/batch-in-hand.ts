import { readItems } from '../batch-items.js';
import type { AnalyticsEvent } from '../ports.js';
import { analyticsEvent } from './analytics-event.js';
import { ItemsBitmap } from './items-bitmap.js';

/** A processed batch as the table has it. */
export interface DueBatch {
  readonly batch_id: string;
  /** Text, because a Date would lose the microseconds. */
  readonly received_at: string;
  readonly merchant_id: string;
  readonly item_count: number;
  readonly body: Buffer;
  readonly new_items: Buffer | null;
  readonly forward_done: Buffer | null;
  readonly forward_attempts: number;
}

/** One event that is to be sent, and whose it is. */
export interface PendingEvent {
  readonly batch: BatchInHand;
  readonly item: number;
  readonly event: AnalyticsEvent;
}

export interface Refusal {
  readonly eventId: string;
  readonly reason: string;
}

/** A batch while it is being forwarded: what of it is still to be sent, and what has become of the rest. */
export class BatchInHand {
  readonly done: ItemsBitmap;
  /** Those that are not recorded yet. */
  refusals: Refusal[] = [];
  /** Milliseconds after which some of it may be tried again; null when nothing was put off. */
  waitMs: number | null = null;
  /** The provider was away, or refused to answer, and this batch may be why. */
  blamed = false;
  /** Nothing can happen to it any more. */
  settled = false;
  private left = 0;

  constructor(readonly row: DueBatch) {
    this.done = ItemsBitmap.read(row.forward_done, row.item_count);
  }

  /** What is to be sent. Throws when the body cannot be read. */
  pending(): PendingEvent[] {
    const { body, new_items, item_count, merchant_id } = this.row;
    const wanted = ItemsBitmap.read(new_items, item_count);
    const pending: PendingEvent[] = [];
    const items = readItems(body);
    if (items.length !== item_count) throw new Error('the body holds another number of items');
    items.forEach((read, item) => {
      if (wanted.has(item) && !this.done.has(item))
        pending.push({ batch: this, item, event: analyticsEvent(merchant_id, read) });
    });
    this.left = pending.length;
    return pending;
  }

  get finished(): boolean {
    return this.left === 0;
  }

  accepted(item: number): void {
    this.done.add(item);
    this.left -= 1;
  }

  refused({ item, event }: PendingEvent, reason: string): void {
    this.refusals.push({ eventId: event.insertId, reason });
    this.accepted(item);
  }

  putOff(waitMs: number): void {
    this.waitMs = Math.min(waitMs, this.waitMs ?? Infinity);
  }
}
