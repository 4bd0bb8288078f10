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
  /** What is to be sent. */
  readonly events: readonly PendingEvent[];
  private left: number;

  /** Throws when the body cannot be read. */
  constructor(readonly row: DueBatch) {
    const { new_items, item_count, merchant_id } = row;
    const wanted = ItemsBitmap.read(new_items, item_count);
    this.done = ItemsBitmap.read(row.forward_done, item_count);
    this.events = storedItems(row).flatMap((read, item) =>
      wanted.has(item) && !this.done.has(item)
        ? [{ batch: this, item, event: analyticsEvent(merchant_id, read) }]
        : [],
    );
    this.left = this.events.length;
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
