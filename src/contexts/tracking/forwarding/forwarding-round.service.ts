import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import type { TrackedItem } from '../batches/event-batch.js';
import { ItemsBitmap } from '../batches/accepted-batches.store.js';
import type { DueBatch, ForwardingRefusal } from './forwarding.store.js';
import { storedItems } from '../batches/batch-items.store.js';
import type { Analytics, AnalyticsEvent, SendResult, Unavailable } from './analytics.ports.js';

/** The number of consecutive unexplained rejections after which the provider counts as unavailable. */
const MAX_REJECTED_IN_ROW = 20;
const OVERHEAD_BYTES = 300;
const MAX_BYTES_PER_CHARACTER = 3;
const MAX_IDENTITIES = 10_000;

interface PendingEvent extends AnalyticsEvent {
  readonly batch: PendingBatch;
  readonly item: number;
}

export class PendingBatch {
  readonly done: ItemsBitmap;
  refusals: ForwardingRefusal[] = [];
  /** The milliseconds until the first throttled event may be sent; null if no event is throttled. */
  waitMs: number | null = null;
  /** True if the batch may have caused a rejection, or its body cannot be read. */
  blamed = false;
  isThrottled = false;
  readonly events: readonly PendingEvent[] = [];
  readonly error: string | null = null;

  constructor(readonly row: DueBatch) {
    const { new_items, item_count, merchant_id } = row;
    const isNew = ItemsBitmap.read(new_items, item_count);
    this.done = ItemsBitmap.read(row.forward_done, item_count);
    try {
      this.events = storedItems(row).flatMap((read, item) =>
        isNew.has(item) && !this.done.has(item)
          ? [Object.assign(read, { batch: this, item, merchant_id })]
          : [],
      );
    } catch {
      this.error = 'the body cannot be read for forwarding';
      this.blamed = true;
    }
  }

  get finished(): boolean {
    return this.error === null && this.events.every(({ item }) => this.done.has(item));
  }

  refused({ item, event_id }: PendingEvent, reason: string): void {
    const { merchant_id, batch_id } = this.row;
    this.refusals.push({ merchant_id, event_id, batch_id, reason });
    this.done.add(item);
  }

  defer(waitMs: number): void {
    this.waitMs = Math.min(waitMs, this.waitMs ?? Infinity);
  }
}

export interface RoundEnd {
  readonly unavailable: Unavailable | null;
  /** True if the provider accepted events, or listed refused or throttled events. */
  readonly responded: boolean;
}

/** The throttled users and devices with the ends of their waits, on the clock of `performance.now()`. */
export class ThrottledIdentities {
  private readonly waits = new LRUCache<string, number>(upTo(MAX_IDENTITIES));

  throttle(event: PendingEvent, waitMs: number): void {
    for (const identity of toIdentities(event))
      this.waits.set(identity, performance.now() + waitMs, { ttl: Math.ceil(waitMs) || 1 });
  }

  /** Returns the milliseconds until the event may be sent; 0 or less means now. */
  waitMs(event: PendingEvent): number {
    return Math.max(...toIdentities(event).map((each) => this.waits.get(each) ?? 0)) - performance.now();
  }
}

interface RoundOptions {
  readonly analytics: Analytics;
  readonly identities: ThrottledIdentities;
  readonly maxEvents: number;
  /** Runs before each request; false ends the round. */
  readonly mayContinue: () => Promise<boolean>;
  readonly sent: (result: SendResult, events: number, durationMs: number) => void;
}

/**
 * Sends pending events, one request at a time. If the provider lists refused events, the rest of the request
 * is sent again. Batches that are entirely throttled, or rejected without a list, are retried later.
 */
export class ForwardingRound {
  private rejectedInRow = 0;
  private responded = false;
  /** The reason for the last rejection of a request with a batch that had never failed before. */
  private reason: string | null = null;

  constructor(private readonly options: RoundOptions) {}

  async run(batches: readonly PendingBatch[]): Promise<RoundEnd> {
    const unavailable = await this.sendAll(batches);
    for (const batch of batches) {
      const isUntouched = !batch.events.some(({ item }) => batch.done.has(item));
      if (batch.isThrottled && isUntouched) batch.blamed = true;
    }
    return { unavailable, responded: this.responded };
  }

  private async sendAll(batches: readonly PendingBatch[]): Promise<Unavailable | null> {
    const { analytics, maxEvents } = this.options;
    const limits = { ...analytics.limits, events: Math.min(maxEvents, analytics.limits.events) };
    const waiting = groupEvents(batches, limits).reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const request = this.admitted(next);
      if (request.length === 0) continue;
      if (!(await this.options.mayContinue())) return null;
      const began = performance.now();
      const result = await analytics.send(request);
      this.options.sent(result, request.length, performance.now() - began);
      if (result.outcome === 'unavailable') return result;
      waiting.push(...this.toOutcome(request, result));
      if (this.rejectedInRow >= MAX_REJECTED_IN_ROW && !this.responded)
        return forbidden('it rejects one request after another');
    }
    return this.reason === null || this.responded ? null : forbidden(this.reason);
  }

  /** Applies a result to the batches of its request. Returns the requests to send next, in reverse order. */
  private toOutcome(request: PendingEvent[], result: Exclude<SendResult, Unavailable>): PendingEvent[][] {
    switch (result.outcome) {
      case 'accepted':
        for (const { batch, item } of request) batch.done.add(item);
        this.hasResponded();
        return [];
      case 'parted': {
        const reasons = new Map(result.refused.map(({ index, reason }) => [index, reason]));
        for (const [index, reason] of reasons) request[index]!.batch.refused(request[index]!, reason);
        for (const { index, waitMs } of result.throttled) {
          this.options.identities.throttle(request[index]!, waitMs);
          request[index]!.batch.isThrottled = true;
        }
        this.hasResponded();
        return [request.filter((_, index) => !reasons.has(index))];
      }
      case 'too_large': {
        this.rejectedInRow += 1;
        const middle = Math.ceil(request.length / 2);
        return [request.slice(middle), request.slice(0, middle)];
      }
      case 'rejected':
        this.rejectedInRow += 1;
        for (const { batch } of request) batch.blamed = true;
        if (request.some(({ batch }) => batch.row.forward_attempts === 0)) this.reason = result.reason;
        return [];
    }
  }

  private hasResponded(): void {
    this.rejectedInRow = 0;
    this.responded = true;
  }

  /** Returns the events that are not throttled, and defers the batches of the others. */
  private admitted(request: PendingEvent[]): PendingEvent[] {
    return request.filter((event) => {
      const waitMs = this.options.identities.waitMs(event);
      if (waitMs > 0) event.batch.defer(waitMs);
      return waitMs <= 0;
    });
  }
}

function toIdentities({ merchant_id, user_external_id, device_id }: PendingEvent): string[] {
  const user = `user ${merchant_id}:${user_external_id}`;
  return device_id === null ? [user] : [user, `device ${device_id}`];
}

function forbidden(detail: string): Unavailable {
  return { outcome: 'unavailable', cause: 'forbidden', detail, retryAfterMs: null };
}

/** Groups events into requests. Failed batches come last, each alone; a failure halves their requests. */
function groupEvents(batches: readonly PendingBatch[], limits: Analytics['limits']): PendingEvent[][] {
  const fresh = batches.filter(({ row }) => row.forward_attempts === 0);
  const failed = batches.filter(({ row }) => row.forward_attempts > 0);
  return [
    ...toRequests(
      fresh.flatMap(({ events }) => events),
      limits,
    ),
    ...failed.flatMap(({ row, events }) => {
      const half = Math.ceil(row.item_count / 2 ** row.forward_attempts);
      return toRequests(events, { ...limits, events: Math.min(half, limits.events) });
    }),
  ];
}

/** Splits events into requests within the limits. An oversized event gets its own request. */
export function toRequests<Event extends TrackedItem>(
  events: readonly Event[],
  limits: Analytics['limits'],
): Event[][] {
  const requests: Event[][] = [];
  let bytes = Infinity;
  for (const event of events) {
    const size = maxBytes(event);
    const last = requests.at(-1);
    if (last === undefined || bytes + size > limits.bytes || last.length >= limits.events) {
      requests.push([event]);
      bytes = size;
    } else {
      last.push(event);
      bytes += size;
    }
  }
  return requests;
}

export function maxBytes({ user_external_id, device_id, event_name, payload }: TrackedItem): number {
  const texts = user_external_id.length + (device_id?.length ?? 0) + event_name.length;
  return Buffer.byteLength(payload) + texts * MAX_BYTES_PER_CHARACTER + OVERHEAD_BYTES;
}
