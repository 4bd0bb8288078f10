import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../../src/platform/postgres/database.js';
import { AcceptedBatches } from '../../../src/contexts/tracking/batches/accepted-batches.store.js';
import { systemClock } from '../../../src/kernel/clock.js';
import { BatchesProcessor } from '../../../src/contexts/tracking/batches/batches.processor.js';
import { batchOf, type SentItem } from './event-batches.js';
import { WAIT_MS } from '../eventually.js';
import { testDatabase, type TestDatabase } from '../postgres.js';

/** A worker that processes accepted batches into events, like one process. */
export interface TestWorker {
  /** Starts a run, unless one is in progress. */
  wake(): void;
  stop(): Promise<void>;
}

export interface StoredBatch {
  readonly batch_id: string;
  readonly state: string;
  readonly new_items: Buffer | null;
  readonly error: string | null;
  readonly processed_at: Date | null;
}

/** The tables of event batches and workers on them, without the rest of the service. */
export class ProcessingHarness {
  private readonly workers: TestWorker[] = [];
  private receivedAt = Date.now();

  private constructor(readonly db: TestDatabase) {}

  static async open(): Promise<ProcessingHarness> {
    return new ProcessingHarness(await testDatabase({ poolSize: 16 }));
  }

  /** Stores an accepted batch and returns its id. Each is received 1 ms after the previous one. */
  async accept(
    merchantId: string,
    events: readonly SentItem[] | string,
    {
      receivedAt = new Date((this.receivedAt += 1)),
      itemCount = typeof events === 'string' ? 1 : events.length,
    } = {},
  ): Promise<string> {
    const batchId = randomUUID();
    const body = Buffer.from(typeof events === 'string' ? events : batchOf(events));
    await this.db.pool.query(
      `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body)
       values ($1, $2, $3, $4, $5)`,
      [batchId, merchantId, receivedAt, itemCount, body],
    );
    return batchId;
  }

  /** Adds a worker, by default on the database of the harness. */
  worker(database: Database = this.db.database): TestWorker {
    const { work } = new BatchesProcessor(new AcceptedBatches(database, systemClock));
    const stopping = new AbortController();
    let running: Promise<unknown> | null = null;
    const worker = {
      wake: (): void => {
        if (stopping.signal.aborted) return;
        running ??= work.options
          .run(stopping.signal)
          .catch(() => undefined)
          .finally(() => (running = null));
      },
      stop: async (): Promise<void> => {
        stopping.abort();
        await running;
      },
    };
    this.workers.push(worker);
    return worker;
  }

  /** Wakes the workers until no batch waits. */
  async settle(workers: readonly TestWorker[] = this.workers): Promise<void> {
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      for (const worker of workers) worker.wake();
      await sleep(5);
      const { rowCount } = await this.db.pool.query(
        `select from tracking.batches where state = 'accepted' limit 1`,
      );
      if (rowCount === 0) return;
      if (Date.now() > deadline) throw new Error('batches still wait');
    }
  }

  async batch(batchId: string): Promise<StoredBatch> {
    const { rows } = await this.db.pool.query<StoredBatch>(
      'select * from tracking.batches where batch_id = $1',
      [batchId],
    );
    return rows[0]!;
  }

  async newItems(batchId: string): Promise<number[]> {
    const { new_items } = await this.batch(batchId);
    return [...new_items!].flatMap((byte, index) =>
      Array.from({ length: 8 }, (_, bit) => bit).flatMap((bit) =>
        (byte & (0x80 >> bit)) === 0 ? [] : [index * 8 + bit],
      ),
    );
  }

  /** Counts the sessions that wait for a row of another transaction. */
  async waitingForRows(): Promise<number> {
    const { rowCount } = await this.db.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`,
    );
    return rowCount ?? 0;
  }

  async events(merchantId: string): Promise<Record<string, unknown>[]> {
    const { rows } = await this.db.pool.query<Record<string, unknown>>(
      `select *, event_datetime::text as exactly from tracking.events where merchant_id = $1 order by event_id`,
      [merchantId],
    );
    return rows;
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.stop();
    await this.db.drop();
  }
}
