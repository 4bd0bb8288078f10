import type { ReadItem } from '../../domain/event-item.js';
import type { DueBatch, ForwardedBatch, Refusal } from '../../store/forwarding-table.js';
import { ItemsBitmap } from '../../store/items-bitmap.js';
import { storedItems } from '../batch-items.js';
import type { AnalyticsEvent } from '../ports.js';

/** One event that is to be sent, and whose it is. */
export interface PendingEvent {
  readonly batch: BatchInHand;
  readonly item: number;
  readonly event: AnalyticsEvent;
}

/** A batch while it is being forwarded: what of it is still to be sent, and what has become of the rest. */
export class BatchInHand implements ForwardedBatch {
  readonly done: ItemsBitmap;
  /** Those that are not recorded yet. */
  refusals: Refusal[] = [];
  /** Milliseconds after which some of it may be tried again; null when nothing was put off. */
  waitMs: number | null = null;
  /** The provider was unavailable, or refused to respond, and this batch may be why. */
  blamed = false;
  /** Nothing can happen to it any more. */
  settled = false;
  private left = 0;

  constructor(readonly row: DueBatch) {
    this.done = ItemsBitmap.read(row.forward_done, row.item_count);
  }

  /** What is to be sent. Throws when the body cannot be read. */
  pending(): PendingEvent[] {
    const { new_items, item_count, merchant_id } = this.row;
    const wanted = ItemsBitmap.read(new_items, item_count);
    const pending: PendingEvent[] = [];
    storedItems(this.row).forEach((read, item) => {
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

/** An item of a merchant's batch as the provider gets it. */
function analyticsEvent(merchantId: string, item: ReadItem): AnalyticsEvent {
  return {
    insertId: item.eventId,
    userId: `${merchantId}:${item.userExternalId}`,
    deviceId: item.deviceId,
    eventType: item.eventName,
    time: Date.parse(item.eventDatetime),
    payload: item.payload,
  };
}
