import { Injectable } from '@nestjs/common';
import type { AttemptRecord } from './delivery-table.js';

/** Deliveries under way to one endpoint from one process: a slow receiver holds this many up and no others. */
export const SENDS_PER_ENDPOINT = 16;
/** Deliveries under way from one process; each has a socket. */
const SENDS_PER_PROCESS = 4096;
/** Due deliveries taken at once for one endpoint, and held by one process. */
const CLAIM = 128;
const HELD_PER_PROCESS = 4096;
/** A failure that took longer than this has held a socket for nothing. */
const HELD_UP_MS = 1000;

export interface SlotLimits {
  readonly perEndpoint: number;
  readonly perProcess: number;
}

interface Use {
  underWay: number;
  /** The most that may be under way: at first the whole of `perEndpoint`. */
  cap: number;
}

/**
 * Who may send how much at once. The fuller the process, the fewer slots an endpoint gets, down to one. An endpoint
 * that holds its senders up without answering loses half of its slots each time, down to one, and gets one back with
 * each answer; all endpoints that have lost some share half of the process, so that the others find room whatever
 * hangs (ADR 0077).
 */
@Injectable()
export class SendSlots {
  private readonly limits: SlotLimits = { perEndpoint: SENDS_PER_ENDPOINT, perProcess: SENDS_PER_PROCESS };
  private readonly uses = new Map<string, Use>();
  private underWay = 0;
  private slowUnderWay = 0;
  private held = 0;
  /** Lanes that found no slot, longest waiting first: those of endpoints that answer, and the others. */
  private readonly waiting = new Map<string, () => void>();
  private readonly slowWaiting = new Map<string, () => void>();

  /** The same with other limits, for tests. */
  static of(limits: SlotLimits): SendSlots {
    return Object.assign(new SendSlots(), { limits });
  }

  /** Slots that the endpoint may take now. */
  free(endpointId: string): number {
    const { perProcess } = this.limits;
    const { cap, underWay } = this.useOf(endpointId);
    const slowRoom = this.isSlow(endpointId) ? left(this.slowUnderWay, perProcess / 2) : 1;
    const share = Math.ceil(cap * Math.min(left(this.underWay, perProcess), slowRoom));
    return Math.max(0, share - underWay);
  }

  /** Takes one slot; false when there is none. */
  take(endpointId: string): boolean {
    if (this.free(endpointId) === 0) return false;
    const use = this.useOf(endpointId);
    if (this.isSlow(endpointId)) this.slowUnderWay += 1;
    use.underWay += 1;
    this.underWay += 1;
    this.uses.set(endpointId, use);
    this.waiting.delete(endpointId);
    this.slowWaiting.delete(endpointId);
    return true;
  }

  /** Gives the slot back, and judges the endpoint by the attempt; null when there was none. */
  giveBack(endpointId: string, attempt: Pick<AttemptRecord, 'failure_phase' | 'duration_ms'> | null): void {
    const use = this.useOf(endpointId);
    if (this.isSlow(endpointId)) this.slowUnderWay -= use.underWay;
    use.underWay -= 1;
    this.underWay -= 1;
    if (attempt) use.cap = this.capAfter(use.cap, attempt);
    if (this.isSlow(endpointId)) this.slowUnderWay += use.underWay;
    else if (use.underWay === 0) this.uses.delete(endpointId);
    this.callNext();
  }

  /** Whether the endpoint has lost slots. */
  isSlow(endpointId: string): boolean {
    return this.useOf(endpointId).cap < this.limits.perEndpoint;
  }

  /** Calls `back` once, when a slot may be free. */
  wait(endpointId: string, back: () => void): void {
    (this.isSlow(endpointId) ? this.slowWaiting : this.waiting).set(endpointId, back);
  }

  /** For a lane that ends: it waits no more, and whoever is next is called instead. */
  leave(endpointId: string): void {
    this.waiting.delete(endpointId);
    this.slowWaiting.delete(endpointId);
    this.callNext();
  }

  /**
   * How many due deliveries to take in hand for the endpoint: the fewer the more are held already, and no more than
   * can be sent at once when it is slow. They count as held until {@link letGo}.
   */
  hold(endpointId: string): number {
    const count = this.isSlow(endpointId)
      ? Math.max(1, this.free(endpointId))
      : Math.max(1, Math.ceil(CLAIM * left(this.held, HELD_PER_PROCESS)));
    this.held += count;
    return count;
  }

  letGo(count: number): void {
    this.held -= count;
  }

  private useOf(endpointId: string): Use {
    return this.uses.get(endpointId) ?? { underWay: 0, cap: this.limits.perEndpoint };
  }

  private capAfter(
    cap: number,
    { failure_phase, duration_ms }: Pick<AttemptRecord, 'failure_phase' | 'duration_ms'>,
  ): number {
    const heldUp = failure_phase !== null && duration_ms > HELD_UP_MS;
    return heldUp ? Math.max(1, Math.floor(cap / 2)) : Math.min(this.limits.perEndpoint, cap + 1);
  }

  private callNext(): void {
    for (const queue of [this.waiting, this.slowWaiting]) {
      const [first] = queue;
      if (first === undefined || this.free(first[0]) === 0) continue;
      queue.delete(first[0]);
      first[1]();
      return;
    }
  }
}

/** The part of a limit that is not used, from 0 to 1. */
function left(used: number, limit: number): number {
  return Math.max(0, 1 - used / limit);
}
