import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { measureOnScrape } from '../../../platform/telemetry/metrics.js';
import { eventBatches, trackedEvents, waitingBatches } from '../metrics.js';
import { AcceptedBatches, type AcceptedBatch } from '../store/accepted-batches.js';

/** What operators see of processing. */
@Injectable()
export class ProcessingObserver implements OnModuleInit {
  private readonly log = new Logger('Processing');

  constructor(private readonly accepted: AcceptedBatches) {}

  onModuleInit(): void {
    measureOnScrape(async () => waitingBatches.set(await this.accepted.waiting()));
  }

  processed(batches: readonly AcceptedBatch[], newEvents: number): void {
    const items = batches.reduce((sum, { item_count }) => sum + item_count, 0);
    eventBatches.inc({ outcome: 'processed' }, batches.length);
    trackedEvents.inc({ outcome: 'new' }, newEvents);
    trackedEvents.inc({ outcome: 'repeated' }, items - newEvents);
  }

  /** Messages of PostgreSQL name what is wrong and may quote data of users: they stay in the row. */
  failed(merchantId: string, batchId: string, error: Error): void {
    eventBatches.inc({ outcome: 'failed' });
    const code = 'code' in error ? String(error.code) : error.name;
    this.log.error(`event batch ${batchId} of merchant ${merchantId} cannot be processed (${code})`);
  }
}
