import type { Analytics, SendResult } from '../ports.js';
import {
  type PendingBatch,
  type PendingEvent,
  halvesOf,
  maxBytes,
  requestsOf,
  type ThrottledIdentities,
} from './request-limits.js';

/** After so many requests in a row were rejected without a reason, the provider rejects this service. */
const MAX_REJECTED_IN_ROW = 20;

export type Unavailable = Extract<SendResult, { outcome: 'unavailable' }>;

export interface RoundEnd {
  /** Why the provider accepts nothing more for now. */
  readonly unavailable: Unavailable | null;
  /** Whether it accepted an event or named one that it refuses. */
  readonly responded: boolean;
}

interface RoundOptions {
  readonly analytics: Analytics;
  readonly identities: ThrottledIdentities;
  readonly maxEvents: number;
  /** Called before each request; false ends the round. */
  readonly mayContinue: () => Promise<boolean>;
  readonly sent: (result: SendResult, events: number, durationMs: number) => void;
}

/**
 * Sends the pending events of some batches, one request after the other, and marks the results in the batches. Events that
 * the provider refuses by name leave their request, and the others are sent again. Batches of a request that it rejects
 * without a reason are retried later, each alone and with half as many events in a request.
 */
export class ForwardingRound {
  private rejectedInRow = 0;
  private responded = false;
  /** The reason why a batch was rejected that had never failed. */
  private reason: string | null = null;

  constructor(private readonly options: RoundOptions) {}

  async run(batches: readonly PendingBatch[]): Promise<RoundEnd> {
    const unavailable = await this.sendAll(batches);
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
      const result = await analytics.send(request.map(({ event }) => event));
      this.options.sent(result, request.length, performance.now() - began);
      if (result.outcome === 'unavailable') return result;
      waiting.push(...this.outcomeOf(request, result).reverse());
      if (this.rejectedInRow >= MAX_REJECTED_IN_ROW && !this.responded)
        return forbidden('it rejects one request after another');
    }
    return this.reason === null || this.responded ? null : forbidden(this.reason);
  }

  /** The requests to send again. */
  private outcomeOf(request: PendingEvent[], result: Exclude<SendResult, Unavailable>): PendingEvent[][] {
    switch (result.outcome) {
      case 'accepted':
        for (const { batch, item } of request) batch.accepted(item);
        this.hasResponded();
        return [];
      case 'parted':
        return this.parted(request, result);
      case 'too_large':
        return this.tooLarge(request);
      case 'rejected':
        return this.rejected(request, result.reason);
    }
  }

  private parted(
    request: PendingEvent[],
    { refused, throttled }: Extract<SendResult, { outcome: 'parted' }>,
  ): PendingEvent[][] {
    const out = new Set<number>();
    const named = <T extends { readonly index: number }>(each: T): boolean =>
      each.index in request && !out.has(each.index) && out.add(each.index).size > 0;
    for (const { index, reason } of refused.filter(named)) {
      const pending = request[index]!;
      pending.batch.refused(pending, reason);
    }
    const refusals = out.size;
    const paused = throttled.filter(named).map(({ index, waitMs }) => ({ ...request[index]!, waitMs }));
    this.options.identities.throttle(paused, performance.now());
    for (const { batch, waitMs } of paused) batch.defer(waitMs);
    if (out.size === 0) return this.rejected(request, 'it refuses events that were not sent');
    this.hasResponded();
    const rest = request.filter((_, index) => !out.has(index));
    // It may name only the first of many: halves cost fewer requests.
    return refusals > 0 ? halvesOf(rest) : [rest];
  }

  private tooLarge(request: PendingEvent[]): PendingEvent[][] {
    const [first] = request;
    // An event of less than half the limit is rejected for another reason.
    const isLarge = maxBytes(first!.event) * 2 > this.options.analytics.limits.bytes;
    if (request.length > 1) {
      this.rejectedInRow += 1;
      return halvesOf(request);
    }
    if (!isLarge) return this.rejected(request, 'too large');
    first!.batch.refused(first!, 'too large');
    return [];
  }

  private rejected(request: PendingEvent[], reason: string): PendingEvent[][] {
    this.rejectedInRow += 1;
    for (const { batch } of request) batch.blamed = true;
    if (request.some(({ batch }) => batch.row.forward_attempts === 0)) this.reason = reason;
    return [];
  }

  private hasResponded(): void {
    this.rejectedInRow = 0;
    this.responded = true;
  }

  /** The events that may be sent now; the others are deferred. */
  private admitted(request: PendingEvent[]): PendingEvent[] {
    const now = performance.now();
    return request.filter(({ batch, event }) => {
      const waitMs = this.options.identities.waitMs(event, now);
      if (waitMs > 0) batch.defer(waitMs);
      return waitMs === 0;
    });
  }
}

function forbidden(detail: string): Unavailable {
  return { outcome: 'unavailable', cause: 'forbidden', detail, retryAfterMs: null };
}

/** Batches that never failed share requests and come first. The others follow, each alone and halved by each failure. */
function groupEvents(batches: readonly PendingBatch[], limits: Analytics['limits']): PendingEvent[][] {
  const fresh = batches.filter(({ row }) => row.forward_attempts === 0);
  const failed = batches.filter(({ row }) => row.forward_attempts > 0);
  return [
    ...requestsOf(
      fresh.flatMap(({ events }) => events),
      limits,
    ),
    ...failed.flatMap(({ row, events }) => {
      const half = Math.ceil(row.item_count / 2 ** row.forward_attempts);
      return requestsOf(events, { ...limits, events: Math.min(half, limits.events) });
    }),
  ];
}
