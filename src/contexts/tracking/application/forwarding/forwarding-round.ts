import type { Analytics, SendResult } from '../ports.js';
import type { PendingBatch, PendingEvent } from './pending-batch.js';
import { halvesOf, maxBytes, requestsOf, type ThrottledIdentities } from './request-limits.js';

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
 * Sends the pending events of some batches, one request after the other, and marks the results in the batches. Refused
 * events leave their request, and the others are sent again. A request that is rejected without a reason is halved until
 * the event is found that causes it.
 */
export class ForwardingRound {
  /** Events that were rejected alone: the provider may have rejected everything at that time. */
  private readonly suspects: PendingEvent[] = [];
  /** The suspect that is sent again right after another event was accepted. */
  private retried: PendingEvent | null = null;
  private lastAccepted: PendingEvent | null = null;
  /** An accepted event, sent again after that suspect was rejected again; the provider ignores it (insert_id). */
  private probe: PendingEvent | null = null;
  private rejectedReason = '';
  private rejectedInRow = 0;
  private responded = false;

  constructor(private readonly options: RoundOptions) {}

  async run(pending: readonly (readonly PendingEvent[])[]): Promise<RoundEnd> {
    const unavailable = await this.sendAll(pending);
    return { unavailable, responded: this.responded };
  }

  private async sendAll(pending: readonly (readonly PendingEvent[])[]): Promise<Unavailable | null> {
    const { analytics, maxEvents } = this.options;
    const limits = { ...analytics.limits, events: Math.min(maxEvents, analytics.limits.events) };
    const waiting = pending.flatMap((events) => requestsOf(events, limits)).reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const request = this.admitted(next);
      if (request.length === 0) continue;
      if (!(await this.options.mayContinue())) return null;
      const began = performance.now();
      const result = await analytics.send(request.map(({ event }) => event));
      this.options.sent(result, request.length, performance.now() - began);
      if (result.outcome === 'unavailable') return result;
      waiting.push(...this.outcomeOf(request, result).reverse());
      if (this.rejectedInRow >= MAX_REJECTED_IN_ROW) return forbidden('it rejects one request after another');
    }
    return this.endWithSuspects();
  }

  /** The requests to send again. */
  private outcomeOf(request: PendingEvent[], result: Exclude<SendResult, Unavailable>): PendingEvent[][] {
    if (this.probe !== null && request[0] === this.probe) return this.probed(result.outcome === 'accepted');
    switch (result.outcome) {
      case 'accepted':
        for (const { batch, item } of request) batch.accepted(item);
        this.hasResponded();
        this.lastAccepted = request[0]!;
        return this.nextSuspect();
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
    if (request.length > 1 || !isLarge) return this.rejected(request, 'too large');
    first!.batch.refused(first!, 'too large');
    return [];
  }

  private rejected(request: PendingEvent[], reason: string): PendingEvent[][] {
    const [first] = request;
    this.rejectedInRow += 1;
    this.rejectedReason = reason;
    if (request.length > 1) return halvesOf(request);
    if (first === this.retried) {
      this.probe = this.lastAccepted;
      return [[this.probe!]];
    }
    this.suspects.push(first!);
    return [];
  }

  /** The end of a probe: the suspect alone was rejected, or everything was. */
  private probed(isAccepted: boolean): PendingEvent[][] {
    const suspect = this.retried!;
    this.probe = null;
    this.retried = null;
    if (!isAccepted) {
      this.rejectedInRow += 1;
      this.suspects.push(suspect);
      return [];
    }
    this.hasResponded();
    this.confirmed(suspect);
    return this.nextSuspect();
  }

  private hasResponded(): void {
    this.rejectedInRow = 0;
    this.responded = true;
  }

  private nextSuspect(): PendingEvent[][] {
    this.retried = this.suspects.shift() ?? null;
    return this.retried === null ? [] : [[this.retried]];
  }

  /** Refused, unless its batch has never failed before. */
  private confirmed(pending: PendingEvent): void {
    if (pending.batch.row.forward_attempts > 0) pending.batch.refused(pending, this.rejectedReason);
    else pending.batch.blamed = true;
  }

  private endWithSuspects(): Unavailable | null {
    for (const { batch } of this.suspects) batch.blamed = true;
    return this.suspects.length > 0 && !this.responded ? forbidden(this.rejectedReason) : null;
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

/** The events that may share requests: batches that were blamed before come first, each alone. */
export function grouped(batches: readonly PendingBatch[]): (readonly PendingEvent[])[] {
  const blamed = batches.filter(({ row }) => row.forward_attempts > 0);
  const others = batches.filter(({ row }) => row.forward_attempts === 0);
  return [...blamed.map(({ events }) => events), others.flatMap(({ events }) => events)];
}
