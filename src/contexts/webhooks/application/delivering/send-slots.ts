import { Injectable, Optional } from '@nestjs/common';
import type { AttemptRecord } from '../../store/delivery-table.js';

/** Deliveries in flight to one endpoint from one process: a slow receiver delays this many and no others. */
export const SENDS_PER_ENDPOINT = 16;
/** Deliveries in flight from one process; each has a socket. Half of them are for endpoints that have lost slots. */
const SENDS_PER_PROCESS = 4096;
/** Those of them that began within FRESH_MS: what responds promptly needs no more, nor so many sockets. */
const FRESH_PER_PROCESS = 256;
const FRESH_MS = 100;
/** Due deliveries claimed at once for one endpoint, and held by one process. */
const CLAIM = 128;
const HELD_PER_PROCESS = 4096;
/** A failure that took longer than this has held a socket for nothing. */
const HELD_UP_MS = 1000;

export interface SlotLimits {
  readonly perEndpoint: number;
  readonly perProcess: number;
  readonly fresh: number;
}

const LIMITS: SlotLimits = {
  perEndpoint: SENDS_PER_ENDPOINT,
  perProcess: SENDS_PER_PROCESS,
  fresh: FRESH_PER_PROCESS,
};

/** Leave to send one delivery. */
export interface Slot {
  readonly endpointId: string;
  /** On the clock of `performance.now()`. */
  readonly began: number;
}

type Attempt = Pick<AttemptRecord, 'failure_phase' | 'duration_ms'>;
/** Begins one delivery; false when there is none any more. */
type Start = (slot: Slot) => boolean;
type Line = Map<string, Start>;

interface Use {
  inFlight: number;
  /** The most that may be in flight: at first the whole of `perEndpoint`. */
  cap: number;
}

/**
 * How much each lane may send at once, by round robin, one delivery each. An endpoint that delays its senders without a
 * response loses half of its slots each time, down to one, and gets one back with each response. All endpoints that have
 * lost some share half of the process, so that the others always find room. Few deliveries may be fresh: what
 * hangs leaves their number by growing old (ADR 77).
 */
@Injectable()
export class SendSlots {
  private readonly uses = new Map<string, Use>();
  private inFlight = 0;
  private slowInFlight = 0;
  /** Deliveries in flight that are fresh, oldest first; pruned when there is no room for more. */
  private readonly fresh = new Set<Slot>();
  private timer: NodeJS.Timeout | null = null;
  private held = 0;
  /** Lanes with deliveries in hand, longest waiting first. */
  private readonly prompt: Line = new Map();
  private readonly slow: Line = new Map();
  private servesSlow = false;

  constructor(@Optional() private readonly limits: SlotLimits = LIMITS) {}

  /** Slots that are the endpoint's own to take. */
  free(endpointId: string): number {
    const { cap, inFlight } = this.useOf(endpointId);
    return Math.max(0, cap - inFlight);
  }

  /** Whether the endpoint has lost slots. */
  isSlow(endpointId: string): boolean {
    return this.useOf(endpointId).cap < this.limits.perEndpoint;
  }

  /** `start` is called, now or later, whenever the endpoint is next and there is a slot, until it returns false. */
  offer(endpointId: string, start: Start): void {
    const [line, other] = this.isSlow(endpointId) ? [this.slow, this.prompt] : [this.prompt, this.slow];
    other.delete(endpointId);
    // Who waits already keeps its place.
    line.set(endpointId, start);
    this.serve();
  }

  /** Waits no more. */
  leave(endpointId: string): void {
    this.prompt.delete(endpointId);
    this.slow.delete(endpointId);
  }

  /**
   * One delivery is over: its endpoint gains or loses slots by the attempt, null when there was none. A lane with more
   * in hand offers it again.
   */
  ended(slot: Slot, attempt: Attempt | null): void {
    const { endpointId } = slot;
    const use = this.useOf(endpointId);
    this.fresh.delete(slot);
    this.count(use, -1);
    if (attempt) {
      if (this.lostSome(use)) this.slowInFlight -= use.inFlight;
      use.cap = this.capAfter(use.cap, attempt);
      if (this.lostSome(use)) this.slowInFlight += use.inFlight;
    }
    if (use.inFlight === 0 && !this.lostSome(use)) this.uses.delete(endpointId);
    this.serve();
  }

  /**
   * How many due deliveries to take in hand for the endpoint: the fewer the more are held already, and no more than
   * can be sent at once when it is slow. They count as held until {@link letGo}.
   */
  hold(endpointId: string): number {
    const room = Math.ceil(CLAIM * Math.max(0, 1 - this.held / HELD_PER_PROCESS));
    const count = Math.max(1, this.isSlow(endpointId) ? this.free(endpointId) : room);
    this.held += count;
    return count;
  }

  letGo(count: number): void {
    this.held -= count;
  }

  private useOf(endpointId: string): Use {
    return this.uses.get(endpointId) ?? { inFlight: 0, cap: this.limits.perEndpoint };
  }

  private lostSome({ cap }: Use): boolean {
    return cap < this.limits.perEndpoint;
  }

  private capAfter(cap: number, { failure_phase, duration_ms }: Attempt): number {
    const heldUp = failure_phase !== null && duration_ms > HELD_UP_MS;
    return heldUp ? Math.max(1, Math.floor(cap / 2)) : Math.min(this.limits.perEndpoint, cap + 1);
  }

  private count(use: Use, by: 1 | -1): void {
    use.inFlight += by;
    this.inFlight += by;
    if (this.lostSome(use)) this.slowInFlight += by;
  }

  /** Starts what there is room for: a delivery of the one line, then one of the other. */
  private serve(): void {
    let idle = 0;
    while (idle < 2) {
      this.servesSlow = !this.servesSlow;
      idle = this.startNext(this.servesSlow ? this.slow : this.prompt) ? 0 : idle + 1;
    }
    if (this.prompt.size + this.slow.size > 0 && !this.hasRoom()) this.serveLater();
  }

  /** Time makes room, too: as soon as the oldest is fresh no more. */
  private serveLater(): void {
    const [oldest] = this.fresh;
    const inMs = oldest === undefined ? FRESH_MS : oldest.began + FRESH_MS - performance.now();
    this.timer ??= setTimeout(
      () => {
        this.timer = null;
        this.serve();
      },
      Math.max(1, Math.ceil(inMs)),
    ).unref();
  }

  private hasRoom(): boolean {
    const { perProcess, fresh } = this.limits;
    const before = performance.now() - FRESH_MS;
    if (this.fresh.size >= fresh)
      for (const slot of this.fresh) {
        if (slot.began > before) break;
        this.fresh.delete(slot);
      }
    return this.inFlight < perProcess && this.fresh.size < fresh;
  }

  private startNext(line: Line): boolean {
    const { perProcess } = this.limits;
    for (const [endpointId, start] of line) {
      if (!this.hasRoom()) return false;
      const use = this.useOf(endpointId);
      if (this.lostSome(use) && this.slowInFlight >= perProcess / 2) {
        if (line === this.slow) return false;
        this.slow.set(endpointId, start);
        line.delete(endpointId);
        continue;
      }
      line.delete(endpointId);
      // One that uses all of its slots is offered again after a response.
      const slot = { endpointId, began: performance.now() };
      if (use.inFlight >= use.cap || !start(slot)) continue;
      this.fresh.add(slot);
      this.count(use, 1);
      this.uses.set(endpointId, use);
      line.set(endpointId, start);
      return true;
    }
    return false;
  }
}
