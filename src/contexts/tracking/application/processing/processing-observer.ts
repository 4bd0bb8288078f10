import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../../../platform/postgres/database.js';
import { measureOnScrape } from '../../../../platform/telemetry/metrics.js';
import { eventBatches, trackedEvents, waitingBatches } from '../../metrics.js';

/** Counting more would cost more than the number is worth. */
const MOST_COUNTED = 100_000;

/** What operators see of processing. */
@Injectable()
export class ProcessingObserver implements OnModuleInit {
  private readonly log = new Logger('Processing');

  constructor(private readonly database: Database) {}

  onModuleInit(): void {
    measureOnScrape(async () => {
      const [row] = await this.database.query<{ waiting: number }>(
        `select count(*)::int as waiting
         from (select from tracking.batches where state = 'accepted' limit ${MOST_COUNTED}) waiting`,
      );
      waitingBatches.set(row!.waiting);
    });
  }

  processed(batches: number, items: number, newEvents: number): void {
    eventBatches.inc({ outcome: 'processed' }, batches);
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
