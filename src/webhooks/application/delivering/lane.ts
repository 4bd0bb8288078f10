import type { ClaimedDelivery, DeliveryTable } from './delivery-table.js';
import type { Delivered } from './delivery-sender.js';
import type { SendSlots } from './send-slots.js';

/** What a lane works with. */
export interface LaneParts {
  readonly table: Pick<DeliveryTable, 'claim' | 'giveBack' | 'leasesHold'>;
  readonly slots: SendSlots;
  readonly deliver: (delivery: ClaimedDelivery) => Promise<Delivered>;
  /** Told when due deliveries cannot be asked for: the database is away. */
  readonly failed: (error: Error) => void;
}

/** One endpoint's due deliveries on their way: claims while there is room, ends when nothing is due. */
export class Lane {
  private claimed: ClaimedDelivery[] = [];
  private underWay = 0;
  private maybeDue = true;
  private stopping = false;
  private signal: (() => void) | null = null;

  constructor(
    private readonly endpointId: string,
    private readonly parts: LaneParts,
    /** Called in the same turn in which the lane stops listening to {@link wake}. */
    private readonly ended: () => void,
  ) {}

  wake(): void {
    this.maybeDue = true;
    this.signal?.();
  }

  /** Starts nothing more; what is not under way is given back. */
  stop(): void {
    this.stopping = true;
    this.signal?.();
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { slots } = this.parts;
    while (!this.stopping) {
      if (this.mustDrop()) await this.drop();
      if (this.wantsMore()) await this.claim();
      while (!this.mustDrop() && this.claimed.length > 0 && slots.take(this.endpointId)) this.start();
      if (this.mustDrop() || this.wantsMore()) continue;
      if (this.claimed.length === 0 && this.underWay === 0 && !this.maybeDue) break;
      // One that has deliveries under way is called back by them; one that has none waits for the slots of others.
      if (this.underWay === 0) slots.wait(this.endpointId, () => this.signal?.());
      await this.somethingChanged();
    }
    await this.drop();
    while (this.underWay > 0) await this.somethingChanged();
    slots.leave(this.endpointId);
    this.ended();
  }

  /**
   * Whether what is claimed may not stay: this process was silent for so long that others may have taken over, or the
   * endpoint has become so slow that its deliveries would wait here for long.
   */
  private mustDrop(): boolean {
    const { slots, table } = this.parts;
    const count = this.claimed.length;
    if (count === 0) return false;
    return !table.leasesHold() || (slots.isSlow(this.endpointId) && count > slots.free(this.endpointId));
  }

  private wantsMore(): boolean {
    return this.claimed.length === 0 && this.maybeDue && this.parts.slots.free(this.endpointId) > 0;
  }

  private async claim(): Promise<void> {
    const { slots, table, failed } = this.parts;
    this.maybeDue = false;
    const room = slots.hold(this.endpointId);
    try {
      this.claimed = [...(await table.claim(this.endpointId, room))];
      this.maybeDue ||= this.claimed.length === room;
    } catch (error) {
      // The sweeper wakes the lane when the database is back.
      failed(error as Error);
    } finally {
      slots.letGo(room - this.claimed.length);
    }
  }

  private start(): void {
    const { slots, deliver } = this.parts;
    const delivery = this.claimed.shift()!;
    this.underWay += 1;
    slots.letGo(1);
    void deliver(delivery).then(({ attempt, dueNow }) => {
      this.underWay -= 1;
      this.maybeDue ||= dueNow;
      slots.giveBack(this.endpointId, attempt);
      this.signal?.();
    });
  }

  /** Gives back what is claimed and not under way. */
  private async drop(): Promise<void> {
    const rest = this.claimed.splice(0);
    if (rest.length === 0) return;
    this.maybeDue = true;
    this.parts.slots.letGo(rest.length);
    await this.parts.table.giveBack(rest);
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
