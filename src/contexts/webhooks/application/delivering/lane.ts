import type { AttemptRecord, ClaimedDelivery, DeliveryTable } from '../../store/delivery-table.js';
import type { SendSlots, Slot } from './send-slots.js';

/** The next deliveries are claimed when no more than these are left to be sent, so that sending need not wait for them. */
const CLAIM_AHEAD = 64;
/** Responses that may wait to be recorded while more is claimed. */
const UNRECORDED = 512;

interface LaneParts {
  readonly table: Pick<DeliveryTable, 'claim' | 'release' | 'leasesHold'>;
  readonly slots: SendSlots;
  /**
   * Sends and records one. `responded` is called once, before the record, with the attempt or null when there was none;
   * resolves once it is recorded to whether it is due again at once. Never rejects.
   */
  readonly deliver: (
    delivery: ClaimedDelivery,
    responded: (attempt: AttemptRecord | null) => void,
  ) => Promise<boolean>;
  /** Called when due deliveries cannot be claimed: the database is unavailable. */
  readonly failed: (error: Error) => void;
}

/**
 * One endpoint's due deliveries on their way. Claims ahead of sending; a response makes room for the next delivery, while
 * its record travels with others. Ends when nothing is due, in flight or unrecorded.
 */
export class SendingLane {
  private claimed: ClaimedDelivery[] = [];
  private inFlight = 0;
  private unrecorded = 0;
  private claiming = false;
  private maybeDue = true;
  private stopping = false;
  private signal: (() => void) | null = null;

  constructor(
    private readonly endpointId: string,
    private readonly parts: LaneParts,
    /** Called synchronously when the lane stops listening to {@link wake}. */
    private readonly ended: () => unknown,
  ) {}

  wake(): void {
    this.maybeDue = true;
    this.signal?.();
  }

  /** Starts nothing more; what is not in flight is released. */
  stop(): void {
    this.stopping = true;
    this.signal?.();
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { slots } = this.parts;
    while (!this.stopping) {
      if (this.mustDrop()) await this.drop();
      if (this.wantsMore()) void this.claim();
      if (this.claimed.length > 0) slots.offer(this.endpointId, this.start);
      if (this.mustDrop() || this.wantsMore()) continue;
      if (this.isIdle() && this.claimed.length === 0 && !this.maybeDue) break;
      await this.somethingChanged();
    }
    // Without an await otherwise: a wake in between would be lost.
    if (this.stopping) await this.drain();
    slots.leave(this.endpointId);
    this.ended();
  }

  private async drain(): Promise<void> {
    while (this.claiming) await this.somethingChanged();
    await this.drop();
    while (!this.isIdle()) await this.somethingChanged();
  }

  private isIdle(): boolean {
    return this.inFlight === 0 && this.unrecorded === 0 && !this.claiming;
  }

  /**
   * Whether what is claimed may not stay: this process missed its heartbeat for so long that others may claim it, or the
   * endpoint has become so slow that its deliveries would wait here for long.
   */
  private mustDrop(): boolean {
    const { slots, table } = this.parts;
    const count = this.claimed.length;
    if (count === 0) return false;
    return !table.leasesHold() || (slots.isSlow(this.endpointId) && count > slots.free(this.endpointId));
  }

  private wantsMore(): boolean {
    if (!this.maybeDue || this.claiming || this.unrecorded >= UNRECORDED) return false;
    const { slots } = this.parts;
    return slots.isSlow(this.endpointId)
      ? this.claimed.length === 0 && slots.free(this.endpointId) > 0
      : this.claimed.length <= CLAIM_AHEAD;
  }

  private async claim(): Promise<void> {
    const { slots, table, failed } = this.parts;
    this.claiming = true;
    this.maybeDue = false;
    const room = slots.hold(this.endpointId);
    let count = 0;
    try {
      const rows = await table.claim(this.endpointId, room);
      this.claimed.push(...rows);
      count = rows.length;
      this.maybeDue ||= count === room;
    } catch (error) {
      // The sweeper wakes the lane when the database is back.
      failed(error as Error);
    } finally {
      slots.letGo(room - count);
      this.claiming = false;
      this.signal?.();
    }
  }

  /** Begins the next delivery; false when there is none to begin. */
  private readonly start = (slot: Slot): boolean => {
    if (this.mustDrop()) this.signal?.();
    if (this.stopping || this.claimed.length === 0 || this.mustDrop()) return false;
    const { slots, deliver } = this.parts;
    const delivery = this.claimed.shift()!;
    this.inFlight += 1;
    this.unrecorded += 1;
    slots.letGo(1);
    const responded = (attempt: AttemptRecord | null): void => {
      this.inFlight -= 1;
      slots.ended(slot, attempt);
      this.signal?.();
    };
    void deliver(delivery, responded).then((dueNow) => {
      this.unrecorded -= 1;
      this.maybeDue ||= dueNow;
      // While others are in flight or claimed, the loop does not wait for this one.
      if (dueNow || this.inFlight === 0) this.signal?.();
    });
    if (this.wantsMore()) this.signal?.();
    return true;
  };

  /** Releases what is claimed and not in flight. */
  private async drop(): Promise<void> {
    const rest = this.claimed.splice(0);
    if (rest.length === 0) return;
    this.maybeDue = true;
    this.parts.slots.leave(this.endpointId);
    this.parts.slots.letGo(rest.length);
    await this.parts.table.release(rest);
  }

  private somethingChanged(): Promise<void> {
    return new Promise((resolve) => {
      this.signal = () => {
        this.signal = null;
        resolve();
      };
    });
  }
}
