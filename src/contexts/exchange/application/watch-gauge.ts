import { Injectable } from '@nestjs/common';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { openOrders, owedOrders, shortfallOrders, watchBacklog, watchBacklogAge } from '../metrics.js';
import { Watches } from '../store/watches.js';

const EVERY_MS = 10_000;

/** Keeps the metrics of orders that are watched. */
@Injectable()
export class WatchGauge {
  readonly work = new BackgroundWork({
    name: 'gauge of exchange orders',
    everyMs: EVERY_MS,
    run: () => this.measure(),
  });

  constructor(private readonly watches: Watches) {}

  private async measure(): Promise<void> {
    const { open, owed, shortfall, late, lateSeconds } = await this.watches.totals();
    for (const status of ['pending', 'paid', 'processing']) openOrders.set({ status }, open[status] ?? 0);
    owedOrders.set(owed);
    shortfallOrders.set(shortfall);
    watchBacklog.set(late);
    watchBacklogAge.set(lateSeconds);
  }
}
