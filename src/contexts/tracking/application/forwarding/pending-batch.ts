import type { ReadItem } from '../../domain/event-batch.js';
import type { DueBatch, ForwardedBatch, ForwardingRefusal } from '../../store/forwarding-table.js';
import { ItemsBitmap } from '../../store/accepted-batches.js';
import { storedItems } from '../batch-items.js';
import type { AnalyticsEvent } from '../ports.js';

export interface PendingEvent {
  readonly batch: PendingBatch;
  readonly item: number;
  readonly event: AnalyticsEvent;
}

/** A batch while it is forwarded. */
export class PendingBatch implements ForwardedBatch {
  readonly done: ItemsBitmap;
  /** Not recorded yet. */
  refusals: ForwardingRefusal[] = [];
  /** Milliseconds until a throttled event may be sent; null when there is none. */
  waitMs: number | null = null;
  /** The batch may be why a request failed. */
  blamed = false;
  settled = false;
  readonly events: readonly PendingEvent[];
  private left: number;

  /** Throws when the body cannot be read. */
  constructor(readonly row: DueBatch) {
    const { new_items, item_count, merchant_id } = row;
    const isNew = ItemsBitmap.read(new_items, item_count);
    this.done = ItemsBitmap.read(row.forward_done, item_count);
    this.events = storedItems(row).flatMap((read, item) =>
      isNew.has(item) && !this.done.has(item)
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

  defer(waitMs: number): void {
    this.waitMs = Math.min(waitMs, this.waitMs ?? Infinity);
  }
}

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
