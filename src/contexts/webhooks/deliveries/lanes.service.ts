import { Logger } from '@nestjs/common';
import { withTimeout } from '../../../platform/timeout.js';
import type { DeliverySender } from './delivery-sender.service.js';
import type { AttemptRecord, DeliveryClaim, DeliveryTable } from './deliveries.store.js';

export interface SendLimits {
  /** The limit of deliveries in flight per endpoint. */
  readonly perEndpoint: number;
  /** The limit of deliveries in flight per process, and thus of sockets. Slow endpoints share half of it. */
  readonly perProcess: number;
  /** The limit of deliveries in flight that began less than FRESH_MS ago. Prompt receivers need no more. */
  readonly fresh: number;
}

export const SEND_LIMITS: SendLimits = { perEndpoint: 16, perProcess: 4096, fresh: 256 };
const FRESH_MS = 100;
const CLAIM = 128;
const HELD_PER_PROCESS = 4096;
/** The number of unsent deliveries at which a lane claims more, so that sending never waits for a claim. */
const CLAIM_AHEAD = 64;
/** The number of unrecorded deliveries at which a lane stops claiming. */
const UNRECORDED = 512;
/** The duration above which a failed attempt halves the endpoint's slots. Slow failures occupy sockets. */
const HELD_UP_MS = 1000;
/** The time for which a shutdown waits for deliveries in flight before it releases them. */
const DRAIN_MS = 10_000;

interface Lane {
  readonly endpointId: string;
  /** The claimed deliveries that are not in flight yet. */
  readonly claimed: DeliveryClaim[];
  inFlight: number;
  /** The number of deliveries in flight or not recorded yet. */
  unrecorded: number;
  /** The limit of deliveries in flight: `perEndpoint` at first, at least 1. */
  cap: number;
  /** True when an unclaimed delivery may be due. */
  maybeDue: boolean;
  /** True while a claim or a release is in progress. */
  isClaiming: boolean;
}

/**
 * Sends due deliveries round robin from one lane per endpoint (ADR 77). A response frees a slot before its
 * attempt is recorded, because records are written in groups. A slow failure halves the slots of an endpoint.
 * Other results add a slot. Endpoints with fewer slots share half of all slots, so that others find room.
 */
export class Lanes {
  private readonly log = new Logger(Lanes.name);
  private readonly lanes = new Map<string, Lane>();
  /** The lanes of prompt endpoints with claimed deliveries, longest waiting first. `slow` has the others. */
  private readonly prompt = new Set<Lane>();
  private readonly slow = new Set<Lane>();
  private servesSlow = false;
  private inFlight = 0;
  private slowInFlight = 0;
  private fresh = 0;
  /** The number of deliveries that are claimed, or being claimed, but not in flight. */
  private held = 0;
  private readonly working = new Set<Promise<void>>();
  private stopping = false;

  constructor(
    private readonly table: DeliveryTable,
    private readonly sender: Pick<DeliverySender, 'deliver' | 'stop'>,
    /** Schedules a wake-up for a delivery that is due again after the delay. */
    private readonly wakeIn: (endpointId: string, delayMs: number) => void,
    private readonly limits: SendLimits = SEND_LIMITS,
  ) {}

  /** Starts the lane unless it runs. The endpoint need not have a due delivery. */
  wake(endpointId: string): void {
    if (this.stopping) return;
    const lane = this.lanes.get(endpointId) ?? this.newLane(endpointId);
    lane.maybeDue = true;
    this.advance(lane);
  }

  /** Starts no further delivery, waits up to DRAIN_MS for those in flight, then releases the rest. */
  async stop(): Promise<void> {
    this.stopping = true;
    for (const lane of this.lanes.values()) this.advance(lane);
    await withTimeout(DRAIN_MS, this.drained(), () => undefined);
    this.sender.stop();
    await this.table.releaseAll();
  }

  private newLane(endpointId: string): Lane {
    const counts = { inFlight: 0, unrecorded: 0, cap: this.limits.perEndpoint };
    const lane: Lane = { endpointId, claimed: [], ...counts, maybeDue: true, isClaiming: false };
    this.lanes.set(endpointId, lane);
    return lane;
  }

  private async drained(): Promise<void> {
    while (this.working.size > 0) await Promise.all(this.working);
  }

  /** Tracks work that never rejects, so that a shutdown waits for it. */
  private track(work: Promise<void>): void {
    this.working.add(work);
    void work.then(() => this.working.delete(work));
  }

  /** Claims, releases or sends deliveries as the state of the lane requires. */
  private advance(lane: Lane): void {
    if (this.mustRelease(lane)) this.track(this.release(lane));
    else if (this.wantsMore(lane)) this.track(this.claim(lane));
    const [line, other] = this.isSlow(lane) ? [this.slow, this.prompt] : [this.prompt, this.slow];
    other.delete(lane);
    // A lane that waits already keeps its place.
    if (lane.claimed.length > 0) line.add(lane);
    else if (lane.unrecorded === 0 && !lane.isClaiming && !lane.maybeDue && !this.isSlow(lane))
      this.lanes.delete(lane.endpointId);
    this.serve();
  }

  private isSlow({ cap }: Lane): boolean {
    return cap < this.limits.perEndpoint;
  }

  /** Returns true if the process stops, its leases expired, or a slow endpoint has more claims than slots. */
  private mustRelease(lane: Lane): boolean {
    const count = lane.claimed.length;
    if (count === 0) return false;
    if (this.stopping || !this.table.hasValidLeases()) return true;
    return this.isSlow(lane) && count > lane.cap - lane.inFlight;
  }

  private release(lane: Lane): Promise<void> {
    const rest = lane.claimed.splice(0);
    this.held -= rest.length;
    this.prompt.delete(lane);
    this.slow.delete(lane);
    lane.maybeDue = true;
    lane.isClaiming = true;
    return this.table.release(rest).then(() => {
      lane.isClaiming = false;
      this.advance(lane);
    });
  }

  private wantsMore(lane: Lane): boolean {
    if (this.stopping || !lane.maybeDue || lane.isClaiming || lane.unrecorded >= UNRECORDED) return false;
    const count = lane.claimed.length;
    if (this.isSlow(lane)) return count === 0 && lane.inFlight < lane.cap;
    return count === 0 || (count <= CLAIM_AHEAD && this.held < HELD_PER_PROCESS);
  }

  private async claim(lane: Lane): Promise<void> {
    lane.isClaiming = true;
    lane.maybeDue = false;
    const room = this.roomFor(lane);
    this.held += room;
    try {
      const rows = await this.table.claim(lane.endpointId, room);
      lane.claimed.push(...rows);
      this.held -= room - rows.length;
      lane.maybeDue ||= rows.length === room;
    } catch (error) {
      // The sweep wakes the lane once the database is available.
      this.held -= room;
      this.log.warn({ msg: 'lane waiting', endpoint_id: lane.endpointId, err: error });
    }
    lane.isClaiming = false;
    this.advance(lane);
  }

  /** Returns the number of deliveries to claim, which falls as claims grow. A slow lane fills its slots. */
  private roomFor(lane: Lane): number {
    const room = Math.ceil(CLAIM * Math.max(0, 1 - this.held / HELD_PER_PROCESS));
    return Math.max(1, this.isSlow(lane) ? lane.cap - lane.inFlight : room);
  }

  /** Starts deliveries while there is room, alternating between prompt and slow lanes. */
  private serve(): void {
    for (let idle = 0; idle < 2;) {
      this.servesSlow = !this.servesSlow;
      idle = this.startNext(this.servesSlow ? this.slow : this.prompt) ? 0 : idle + 1;
    }
  }

  private hasRoom(): boolean {
    return this.inFlight < this.limits.perProcess && this.fresh < this.limits.fresh;
  }

  private startNext(line: Set<Lane>): boolean {
    for (const lane of line) {
      if (!this.hasRoom()) return false;
      if (line === this.slow && this.slowInFlight >= this.limits.perProcess / 2) return false;
      line.delete(lane);
      // A lane without a free slot is in line again after a response.
      if (lane.inFlight >= lane.cap) continue;
      if (this.mustRelease(lane)) {
        this.track(this.release(lane));
        continue;
      }
      this.start(lane, lane.claimed.shift()!);
      if (lane.claimed.length > 0) line.add(lane);
      if (this.wantsMore(lane)) this.track(this.claim(lane));
      return true;
    }
    return false;
  }

  private start(lane: Lane, delivery: DeliveryClaim): void {
    this.held -= 1;
    this.count(lane, 1);
    lane.unrecorded += 1;
    const endFresh = this.begin();
    const responded = (attempt: AttemptRecord | null): void => {
      endFresh();
      this.count(lane, -1);
      if (attempt) this.changeCap(lane, attempt);
      this.advance(lane);
    };
    const fills = lane.inFlight >= lane.cap;
    const recorded = this.sender.deliver(delivery, responded, fills).then((dueInMs) => {
      lane.unrecorded -= 1;
      if (dueInMs === 0) lane.maybeDue = true;
      else if (dueInMs !== null) this.wakeIn(lane.endpointId, dueInMs);
      this.advance(lane);
    });
    this.track(recorded);
  }

  /** Counts a delivery as fresh, for FRESH_MS or until the returned function is called. */
  private begin(): () => void {
    let isFresh = true;
    this.fresh += 1;
    const end = (): void => {
      clearTimeout(timer);
      if (isFresh) this.fresh -= 1;
      isFresh = false;
    };
    const timer = setTimeout(() => {
      end();
      this.serve();
    }, FRESH_MS).unref();
    return end;
  }

  private count(lane: Lane, by: 1 | -1): void {
    lane.inFlight += by;
    this.inFlight += by;
    if (this.isSlow(lane)) this.slowInFlight += by;
  }

  private changeCap(lane: Lane, { error, duration_ms }: AttemptRecord): void {
    const heldUp = error !== null && duration_ms > HELD_UP_MS;
    if (this.isSlow(lane)) this.slowInFlight -= lane.inFlight;
    lane.cap = heldUp
      ? Math.max(1, Math.floor(lane.cap / 2))
      : Math.min(this.limits.perEndpoint, lane.cap + 1);
    if (this.isSlow(lane)) this.slowInFlight += lane.inFlight;
  }
}
