import { Injectable, Logger } from '@nestjs/common';
import { withTimeout } from '../../../../platform/timeout.js';
import { DeliverySender } from './delivery-sender.js';
import { DeliveryTable } from '../../store/delivery-table.js';
import { LaneSchedule } from './lane-schedule.js';
import { Lane } from './lane.js';
import { SendSlots } from './send-slots.js';

/** How long a shutdown waits for what is under way before it gives it back. */
const DRAIN_MS = 10_000;

/** The lanes of this process: at most one per endpoint. Waking one that runs, or one with nothing due, does no harm. */
@Injectable()
export class Lanes {
  private readonly log = new Logger(Lanes.name);
  private readonly running = new Map<string, { lane: Lane; done: Promise<void> }>();
  private stopping = false;

  constructor(
    private readonly table: DeliveryTable,
    private readonly sender: DeliverySender,
    private readonly slots: SendSlots,
    private readonly schedule: LaneSchedule,
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
    for (const { lane } of this.running.values()) lane.stop();
    const done = Promise.all([...this.running.values()].map((each) => each.done));
    await withTimeout(DRAIN_MS, done, () => undefined);
    this.sender.stop();
    await this.table.leave();
  }

  private start(endpointId: string): void {
    const parts = {
      table: this.table,
      slots: this.slots,
      deliver: this.sender.deliver.bind(this.sender),
      failed: (error: Error) => this.log.warn(`lane of ${endpointId} waits: ${error.message}`),
    };
    const lane = new Lane(endpointId, parts, () => {
      this.running.delete(endpointId);
      if (!this.stopping) void this.schedule.ended(endpointId);
    });
    this.running.set(endpointId, { lane, done: lane.run() });
  }
}
