import type { Analytics, SendResult } from '../ports.js';
import type { BatchInHand, PendingEvent } from './batch-in-hand.js';
import { halvesOf, mostBytes, requestsOf } from './requests.js';
import type { ThrottledIdentities } from './throttled-identities.js';

/** So many requests rejected without a word, and none taken in between, mean that it rejects this service. */
const MOST_REJECTED_IN_ROW = 20;

export type Unavailable = Extract<SendResult, { outcome: 'unavailable' }>;

export interface TurnEnd {
  /** Why the provider takes nothing more for now; null when nothing speaks against going on. */
  readonly unavailable: Unavailable | null;
  /** Whether it took something, or said what it does not take. */
  readonly responded: boolean;
}

/** What a turn is given to work with. */
interface TurnTools {
  readonly analytics: Analytics;
  readonly identities: ThrottledIdentities;
  /** The most events of one request. */
  readonly most: number;
  /** Before each request: resolves to false when the turn shall end. */
  readonly mayGoOn: () => Promise<boolean>;
  /** After each request. */
  readonly sent: (result: SendResult, events: number, durationMs: number) => void;
}

/**
 * Sends what is pending of some batches, one request after the other, and notes in the batches what became of it. What is
 * refused comes out of its request and the others go again; what is rejected without a word is halved until the event is
 * found that is the cause.
 */
export class Turn {
  /**
   * Rejected alone. It is at fault if another event is accepted afterwards, and that for the second time; else the
   * provider may have rejected everything for a while.
   */
  private doubts: { readonly pending: PendingEvent; readonly reason: string }[] = [];
  private rejectedInRow = 0;
  private responded = false;

  constructor(private readonly tools: TurnTools) {}

  /** Rejects only if `mayGoOn` does. */
  async run(pending: readonly (readonly PendingEvent[])[]): Promise<TurnEnd> {
    const unavailable = await this.sendAll(pending);
    return { unavailable, responded: this.responded };
  }

  private async sendAll(pending: readonly (readonly PendingEvent[])[]): Promise<Unavailable | null> {
    const { analytics, most } = this.tools;
    const limits = { ...analytics.limits, events: Math.min(most, analytics.limits.events) };
    const waiting = pending.flatMap((events) => requestsOf(events, limits)).reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const request = this.admitted(next);
      if (request.length === 0) continue;
      if (!(await this.tools.mayGoOn())) return null;
      const began = performance.now();
      const result = await analytics.send(request.map(({ event }) => event));
      this.tools.sent(result, request.length, performance.now() - began);
      if (result.outcome === 'unavailable') return result;
      waiting.push(...this.outcomeOf(request, result).reverse());
      if (this.rejectedInRow >= MOST_REJECTED_IN_ROW)
        return forbidden('it rejects one request after another');
    }
    return this.endWithDoubts();
  }

  /** What is to be sent of the request after all. */
  private outcomeOf(request: PendingEvent[], result: Exclude<SendResult, Unavailable>): PendingEvent[][] {
    switch (result.outcome) {
      case 'accepted':
        for (const { batch, item } of request) batch.accepted(item);
        this.hasResponded();
        this.confirmDoubts();
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
    this.tools.identities.throttle(paused, performance.now());
    for (const { batch, waitMs } of paused) batch.putOff(waitMs);
    if (out.size === 0) return this.rejected(request, 'it refuses events that were not sent');
    this.hasResponded();
    const rest = request.filter((_, index) => !out.has(index));
    // It may name only the first of many: halves cost less than going through all of them each time.
    return refusals > 0 ? halvesOf(rest) : [rest];
  }

  private tooLarge(request: PendingEvent[]): PendingEvent[][] {
    const [first] = request;
    // Less than half of what the provider takes cannot be too large for it: then something else is wrong.
    const isLarge = mostBytes(first!.event) * 2 > this.tools.analytics.limits.bytes;
    if (request.length > 1 || !isLarge) return this.rejected(request, 'too large');
    first!.batch.refused(first!, 'too large');
    return [];
  }

  private rejected(request: PendingEvent[], reason: string): PendingEvent[][] {
    this.rejectedInRow += 1;
    if (request.length > 1) return halvesOf(request);
    this.doubts.push({ pending: request[0]!, reason });
    return [];
  }

  private hasResponded(): void {
    this.rejectedInRow = 0;
    this.responded = true;
  }

  private confirmDoubts(): void {
    for (const { pending, reason } of this.doubts) {
      if (pending.batch.row.forward_attempts > 0) pending.batch.refused(pending, reason);
      else pending.batch.blamed = true;
    }
    this.doubts = [];
  }

  private endWithDoubts(): Unavailable | null {
    for (const { pending } of this.doubts) pending.batch.blamed = true;
    return this.doubts.length > 0 && !this.responded ? forbidden(this.doubts[0]!.reason) : null;
  }

  /** The events of the request that may go now; the others are put off. */
  private admitted(request: PendingEvent[]): PendingEvent[] {
    const now = performance.now();
    return request.filter(({ batch, event }) => {
      const waitMs = this.tools.identities.waitMs(event, now);
      if (waitMs > 0) batch.putOff(waitMs);
      return waitMs === 0;
    });
  }
}

function forbidden(detail: string): Unavailable {
  return { outcome: 'unavailable', cause: 'forbidden', detail, retryAfterMs: null };
}

/** What is to be sent, by request that it may share: batches that were blamed before go alone, and first. */
export function grouped(batches: readonly BatchInHand[]): (readonly PendingEvent[])[] {
  const blamed = batches.filter(({ row }) => row.forward_attempts > 0);
  const others = batches.filter(({ row }) => row.forward_attempts === 0);
  return [...blamed.map(({ events }) => events), others.flatMap(({ events }) => events)];
}
