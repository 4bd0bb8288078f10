import { Injectable, Logger } from '@nestjs/common';
import { DeliverySender } from './delivery-sender.js';
import { DeliveryTable, type ClaimedDelivery } from './delivery-table.js';

/** Deliveries under way to one endpoint from one process: a slow receiver holds this many up and no others. */
export const SENDS_PER_ENDPOINT = 16;
/** Due deliveries taken at once for one endpoint. */
const CLAIM = 128;
/** How long a shutdown waits for what is under way before it gives it back. */
const DRAIN_MS = 10_000;

/** One endpoint's due deliveries on their way: claims while there is room, ends when nothing is due. */
class Lane {
  private claimed: ClaimedDelivery[] = [];
  private underWay = 0;
  private maybeDue = true;
  private signal: (() => void) | null = null;

  constructor(
    private readonly endpointId: string,
    private readonly table: DeliveryTable,
    private readonly send: (delivery: ClaimedDelivery) => Promise<void>,
    private readonly stopping: () => boolean,
    /** Called in the same turn in which the lane stops listening to {@link wake}. */
    private readonly ended: () => void,
  ) {}

  wake(): void {
    this.maybeDue = true;
    this.signal?.();
  }

  async run(): Promise<void> {
    while (!this.stopping()) {
      if (this.claimed.length === 0 && this.maybeDue && this.underWay < SENDS_PER_ENDPOINT)
        await this.claim();
      while (this.claimed.length > 0 && this.underWay < SENDS_PER_ENDPOINT) this.start(this.claimed.shift()!);
      if (this.claimed.length === 0 && this.maybeDue && this.underWay < SENDS_PER_ENDPOINT) continue;
      if (this.claimed.length === 0 && this.underWay === 0) break;
      await this.somethingChanged();
    }
    while (this.underWay > 0) await this.somethingChanged();
    this.ended();
  }

  private async claim(): Promise<void> {
    this.maybeDue = false;
    this.claimed = [...(await this.table.claim(this.endpointId, CLAIM))];
    if (this.claimed.length === CLAIM) this.maybeDue = true;
  }

  private start(delivery: ClaimedDelivery): void {
    this.underWay += 1;
    void this.send(delivery).finally(() => {
      this.underWay -= 1;
      this.signal?.();
    });
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

/** The lanes of this process: at most one per endpoint. Waking one that runs, or one with nothing due, does no harm. */
@Injectable()
export class Lanes {
  private readonly log = new Logger(Lanes.name);
  private readonly running = new Map<string, { lane: Lane; done: Promise<void> }>();
  private stopping = false;

  constructor(
    private readonly table: DeliveryTable,
    private readonly sender: DeliverySender,
  ) {}

  wake(endpointId: string): void {
    if (this.stopping) return;
    const running = this.running.get(endpointId);
    if (running) running.lane.wake();
    else this.start(endpointId);
  }

  /** Starts nothing more, waits a while for what is under way, then gives the rest back. */
  async stop(): Promise<void> {
    this.stopping = true;
    for (const { lane } of this.running.values()) lane.wake();
    const done = Promise.all([...this.running.values()].map((each) => each.done));
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, DRAIN_MS)))]);
    clearTimeout(timer);
    this.sender.stop();
    await this.table.leave();
  }

  private start(endpointId: string): void {
    const lane = new Lane(
      endpointId,
      this.table,
      async (delivery) => {
        const dueNow = await this.sender.deliver(delivery);
        if (dueNow) lane.wake();
      },
      () => this.stopping,
      () => this.running.delete(endpointId),
    );
    const done = lane.run().catch((error: Error) => {
      // The database is away; the sweeper wakes the lane when it is back.
      this.log.warn(`lane of ${endpointId} stopped: ${error.message}`);
      this.running.delete(endpointId);
    });
    this.running.set(endpointId, { lane, done });
  }
}
