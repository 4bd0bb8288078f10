import { LRUCache } from 'lru-cache';
import { upTo } from '../../../../platform/cache-size.js';
import type { Analytics, AnalyticsEvent } from '../ports.js';
import type { ReadItem } from '../../domain/event-batch.js';
import type { DueBatch, ForwardedBatch, ForwardingRefusal } from '../../store/forwarding-table.js';
import { ItemsBitmap } from '../../store/accepted-batches.js';
import { storedItems } from '../batch-items.js';

/** Keeps events under a rate: after a request the next one waits as long as its events take at that rate. */
export class RateLimit {
  /** On the clock of `performance.now()`. */
  private freeAt = 0;

  constructor(readonly perSecond: number) {}

  /** Milliseconds until the next request may go. */
  waitMs(now: number): number {
    return Math.max(0, this.freeAt - now);
  }

  count(events: number, now: number): void {
    this.freeAt = Math.max(now, this.freeAt) + (events * 1000) / this.perSecond;
  }
}

/** Of the names, quotes and commas of an event. */
const OVERHEAD_BYTES = 200;
const MAX_BYTES_PER_CHARACTER = 3;

/** Splits events into requests within the limits; an event that is too large gets its own. */
export function requestsOf(events: readonly PendingEvent[], limits: Analytics['limits']): PendingEvent[][] {
  const requests: PendingEvent[][] = [];
  let bytes = Infinity;
  for (const pending of events) {
    const size = maxBytes(pending.event);
    const last = requests.at(-1);
    if (last === undefined || bytes + size > limits.bytes || last.length >= limits.events) {
      requests.push([pending]);
      bytes = size;
    } else {
      last.push(pending);
      bytes += size;
    }
  }
  return requests;
}

export function halvesOf(request: readonly PendingEvent[]): PendingEvent[][] {
  const middle = Math.ceil(request.length / 2);
  return [request.slice(0, middle), request.slice(middle)].filter((half) => half.length > 0);
}

export function maxBytes({ userId, deviceId, eventType, payload }: AnalyticsEvent): number {
  const texts = userId.length + (deviceId?.length ?? 0) + eventType.length;
  return Buffer.byteLength(payload) + texts * MAX_BYTES_PER_CHARACTER + OVERHEAD_BYTES;
}

const MAX_IDENTITIES = 10_000;
/** Events of a throttled user or device after each wait; halved when that was too many. */
const FIRST_SHARE = 300;

interface Share {
  /** On the clock of `performance.now()`. */
  readonly resumeAt: number;
  readonly waitMs: number;
  readonly size: number;
  left: number;
}

/**
 * Users and devices that the provider throttles: they pause, and then send one share per wait, until a share is not used
 * up. Kept in memory: after a restart the provider reports them again.
 */
export class ThrottledIdentities {
  private readonly shares = new LRUCache<string, Share>(upTo(MAX_IDENTITIES));

  /** 0 counts the event, which may be sent now; otherwise the milliseconds to wait. */
  waitMs(event: AnalyticsEvent, now: number): number {
    const shares: Share[] = [];
    for (const identity of identitiesOf(event)) {
      const share = this.shares.get(identity);
      if (share === undefined) continue;
      if (now < share.resumeAt) return share.resumeAt - now;
      if (share.left === 0) {
        this.pause(identity, share.size, share.waitMs, now);
        return share.waitMs;
      }
      shares.push(share);
    }
    for (const share of shares) share.left -= 1;
    return 0;
  }

  throttle(
    throttled: readonly { readonly event: AnalyticsEvent; readonly waitMs: number }[],
    now: number,
  ): void {
    const waits = new Map<string, number>();
    for (const { event, waitMs } of throttled)
      for (const identity of identitiesOf(event))
        waits.set(identity, Math.max(waitMs, waits.get(identity) ?? 0));
    for (const [identity, waitMs] of waits) {
      const size = this.shares.get(identity)?.size;
      this.pause(identity, size === undefined ? FIRST_SHARE : Math.max(1, Math.floor(size / 2)), waitMs, now);
    }
  }

  private pause(identity: string, size: number, waitMs: number, now: number): void {
    const share = { resumeAt: now + waitMs, waitMs, size, left: size };
    this.shares.set(identity, share, { ttl: 2 * waitMs });
  }
}

function identitiesOf({ userId, deviceId }: AnalyticsEvent): string[] {
  return deviceId === null ? [`user ${userId}`] : [`user ${userId}`, `device ${deviceId}`];
}

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
