import { Injectable, Optional } from '@nestjs/common';
import type { AttemptRecord } from '../../store/delivery-table.js';
import { YoungSends } from './young-sends.js';

/** Deliveries under way to one endpoint from one process: a slow receiver holds this many up and no others. */
export const SENDS_PER_ENDPOINT = 16;
/** Deliveries under way from one process; each has a socket. */
const SENDS_PER_PROCESS = 4096;
/** Those of them that began less than so many milliseconds ago: what answers promptly needs no more, nor so many sockets. */
const YOUNG_PER_PROCESS = 256;
const YOUNG_MS = 100;
/** Due deliveries taken at once for one endpoint, and held by one process. */
const CLAIM = 128;
const HELD_PER_PROCESS = 4096;
/** A failure that took longer than this has held a socket for nothing. */
const HELD_UP_MS = 1000;
/** Of so many turns, one goes to those who have to stand back otherwise. */
const TURN_OF_THE_LAST = 8;

export interface SlotLimits {
  readonly perEndpoint: number;
  readonly perProcess: number;
  readonly young: number;
  readonly youngMs: number;
}

const LIMITS: SlotLimits = {
  perEndpoint: SENDS_PER_ENDPOINT,
  perProcess: SENDS_PER_PROCESS,
  young: YOUNG_PER_PROCESS,
  youngMs: YOUNG_MS,
};

/** Leave to send one delivery. */
export interface Slot {
  readonly endpointId: string;
  /** On the clock of `performance.now()`. */
  readonly began: number;
}

type Attempt = Pick<AttemptRecord, 'failure_phase' | 'duration_ms'>;

interface Use {
  underWay: number;
  /** Those of them that have outgrown their youth without an answer. */
  late: number;
  /** The most that may be under way: at first the whole of `perEndpoint`. */
  cap: number;
}

/**
 * Who may send how much at once. The fuller the process, the fewer slots an endpoint gets, down to one. An endpoint
 * that holds its senders up without answering loses half of its slots each time, down to one, and gets one back with
 * each answer; all endpoints that have lost some share half of the process, so that the others find room whatever
 * hangs. Young sends have a limit of their own; lanes that find no slot stand in line for one (ADR 77).
 */
@Injectable()
export class SendSlots {
  private readonly uses = new Map<string, Use>();
  private underWay = 0;
  private slowUnderWay = 0;
  private held = 0;
  private readonly young: YoungSends;
  /** Lanes that wait, longest first: those of endpoints that answer, of those that keep us waiting, of slow ones. */
  private readonly lines = [new Map(), new Map(), new Map()] as readonly Map<string, (slot: Slot) => void>[];
  /** Lanes that wait and have as many under way as is their endpoint's share, and the levels at which that was so. */
  private readonly atShare = new Map<string, (slot: Slot) => void>();
  private levels: readonly [number, number] = [0, 0];
  private turns = 0;
  private serving = false;
  private timer: NodeJS.Timeout | null = null;

  constructor(@Optional() private readonly limits: SlotLimits = LIMITS) {
    this.young = new YoungSends(limits.young, limits.youngMs, ({ endpointId }) => {
      this.useOf(endpointId).late += 1;
      this.lineUpAnew(endpointId);
    });
  }

  /** The same with other limits, for tests. */
  static of(limits: Partial<SlotLimits>): SendSlots {
    return new SendSlots({ ...LIMITS, ...limits });
  }

  /** Slots that are the endpoint's to take, as far as there is room for young ones. */
  free(endpointId: string): number {
    const { cap, underWay } = this.useOf(endpointId);
    const level = this.isSlow(endpointId) ? this.slowLevel() : this.level();
    return Math.max(0, Math.ceil((cap * level) / this.limits.perEndpoint) - underWay);
  }

  /** Takes one slot; null when there is none, or others have waited longer for it. */
  take(endpointId: string): Slot | null {
    this.serve();
    return this.free(endpointId) > 0 && this.young.hasRoom() ? this.taken(endpointId) : null;
  }

  /** Gives the slot back, and judges the endpoint by the attempt; null when there was none. */
  giveBack(slot: Slot, attempt: Attempt | null): void {
    const { endpointId } = slot;
    const use = this.useOf(endpointId);
    if (!this.young.remove(slot)) use.late -= 1;
    if (this.isSlow(endpointId)) this.slowUnderWay -= use.underWay;
    use.underWay -= 1;
    this.underWay -= 1;
    if (attempt) use.cap = this.capAfter(use.cap, attempt);
    if (this.isSlow(endpointId)) this.slowUnderWay += use.underWay;
    else if (use.underWay === 0) this.uses.delete(endpointId);
    this.lineUpAnew(endpointId);
    if (this.atShare.size > 0 && (this.level() > this.levels[0] || this.slowLevel() > this.levels[1]))
      for (const id of this.atShare.keys()) this.lineUpAnew(id);
    this.serve();
  }

  /** Whether the endpoint has lost slots. */
  isSlow(endpointId: string): boolean {
    return this.useOf(endpointId).cap < this.limits.perEndpoint;
  }

  /**
   * Stands in line for one slot: `turn` is called with it, once, in the very moment in which there is one. Whoever waits
   * already keeps its place.
   */
  wait(endpointId: string, turn: (slot: Slot) => void): void {
    this.atShare.delete(endpointId);
    this.lines[this.lineOf(endpointId)]!.set(endpointId, turn);
    this.serve();
  }

  /** Waits no more. */
  leave(endpointId: string): void {
    this.atShare.delete(endpointId);
    for (const line of this.lines) line.delete(endpointId);
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
    return this.uses.get(endpointId) ?? { underWay: 0, late: 0, cap: this.limits.perEndpoint };
  }

  private capAfter(cap: number, { failure_phase, duration_ms }: Attempt): number {
    const heldUp = failure_phase !== null && duration_ms > HELD_UP_MS;
    return heldUp ? Math.max(1, Math.floor(cap / 2)) : Math.min(this.limits.perEndpoint, cap + 1);
  }

  private taken(endpointId: string): Slot {
    const slot = { endpointId, began: performance.now() };
    const use = this.useOf(endpointId);
    if (this.isSlow(endpointId)) this.slowUnderWay += 1;
    use.underWay += 1;
    this.underWay += 1;
    this.uses.set(endpointId, use);
    this.young.add(slot);
    return slot;
  }

  /** How many slots an endpoint gets that has lost none: all of its own, down to none when the process is full. */
  private level(): number {
    return Math.ceil(this.limits.perEndpoint * left(this.underWay, this.limits.perProcess));
  }

  private slowLevel(): number {
    const { perEndpoint, perProcess } = this.limits;
    return Math.min(this.level(), Math.ceil(perEndpoint * left(this.slowUnderWay, perProcess / 2)));
  }

  private lineOf(endpointId: string): number {
    if (this.isSlow(endpointId)) return 2;
    return this.useOf(endpointId).late > 0 ? 1 : 0;
  }

  /** An answer, or none for long, may move a lane to another line. */
  private lineUpAnew(endpointId: string): void {
    const place = this.lineOf(endpointId);
    for (const line of [this.atShare, ...this.lines]) {
      const turn = line.get(endpointId);
      if (turn === undefined || line === this.lines[place]) continue;
      line.delete(endpointId);
      this.lines[place]!.set(endpointId, turn);
    }
  }

  private isAwaited(): boolean {
    return this.lines.some((line) => line.size > 0);
  }

  /** Gives slots to those who wait as long as there are any. A turn may give its slot back, or wait again. */
  private serve(): void {
    if (this.serving || !this.isAwaited()) return;
    this.serving = true;
    try {
      while (this.isAwaited() && this.young.hasRoom() && this.serveNext()) this.turns += 1;
    } finally {
      this.serving = false;
    }
    if (this.isAwaited()) this.lookAgain();
  }

  private serveNext(): boolean {
    const lines = this.turns % TURN_OF_THE_LAST === 0 ? this.lines.toReversed() : this.lines;
    for (const line of lines) {
      for (const [endpointId, turn] of line) {
        // Nobody behind has room either: it has none under way, so that all slots, or all of the slow ones, are taken.
        if (this.useOf(endpointId).underWay === 0 && this.free(endpointId) === 0) break;
        line.delete(endpointId);
        if (this.free(endpointId) === 0) {
          this.atShare.set(endpointId, turn);
          this.levels = [this.level(), this.slowLevel()];
          continue;
        }
        turn(this.taken(endpointId));
        return true;
      }
    }
    return false;
  }

  /** Time makes room, too. */
  private lookAgain(): void {
    if (this.timer !== null || !this.young.isFull()) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.serve();
    }, this.young.nextIn()).unref();
  }
}

/** The part of a limit that is not used, from 0 to 1. */
function left(used: number, limit: number): number {
  return Math.max(0, 1 - used / limit);
}
