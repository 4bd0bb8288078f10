import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { measureOnScrape } from '../../../platform/telemetry/metrics.js';
import type { BatchEvent } from './event-batch.js';
import { eventBatches, trackedEvents, waitingBatches } from '../tracking.metrics.js';
import { AcceptedBatches, type AcceptedBatch, type NewBatch } from './accepted-batches.store.js';
import { distinctEvents, UnreadableBatch } from './batch-items.store.js';

const POLL_MS = 250;
/** The pause of a merchant after an infrastructure failure. */
const HOLD_MS = 1000;
/** The SQLSTATE classes of errors in the data: invalid values, broken constraints, exceeded limits. */
const DATA_CLASSES = new Set(['22', '23', '54']);

interface Chunk {
  readonly merchantId: string;
  readonly batches: readonly AcceptedBatch[];
  readonly events: readonly BatchEvent[] | null;
}

/** Processes accepted batches round robin, so that no merchant waits for the backlog of another merchant. */
@Injectable()
export class BatchesProcessor implements OnModuleInit {
  @Background()
  readonly work = new BackgroundWork({
    name: 'event batches',
    everyMs: POLL_MS,
    run: (signal) => this.run(signal),
  });
  private readonly log = new Logger(BatchesProcessor.name);
  /** The end of each merchant's pause, on the clock of `performance.now()`. */
  private readonly holds = new Map<string, number>();

  constructor(private readonly accepted: AcceptedBatches) {}

  onModuleInit(): void {
    measureOnScrape(async () => waitingBatches.set(await this.accepted.waiting()));
  }

  async accept(batch: NewBatch): Promise<void> {
    await this.accepted.insert(batch);
    this.work.wake();
  }

  /** Processes all accepted batches in chunks. The next chunk is read while the current one is processed. */
  private async run(signal: AbortSignal): Promise<void> {
    const waiting = new Set(await this.accepted.merchants());
    let refreshAt = performance.now() + POLL_MS;
    let chunk = await this.next(waiting);
    while (chunk !== null && !signal.aborted) {
      // A backlog may never end, so new merchants join during the run.
      if (performance.now() >= refreshAt) {
        for (const merchantId of await this.accepted.merchants()) waiting.add(merchantId);
        refreshAt = performance.now() + POLL_MS;
      }
      const following = this.next(waiting, chunk);
      // `following` is awaited below. A rejection before that must not count as unhandled.
      following.catch(() => undefined);
      const done = await this.finish(chunk);
      const next = await following;
      // A later chunk must not overtake a failed one, because the first accepted event of an id counts.
      if (!done) waiting.delete(chunk.merchantId);
      chunk = !done && next?.merchantId === chunk.merchantId ? await this.next(waiting) : next;
    }
  }

  /** Returns a chunk of the longest waiting merchant, or null. The batches of `current` are skipped. */
  private async next(waiting: Set<string>, current?: Chunk): Promise<Chunk | null> {
    for (const merchantId of waiting) {
      waiting.delete(merchantId);
      if ((this.holds.get(merchantId) ?? 0) > performance.now()) continue;
      const after = current?.merchantId === merchantId ? current.batches.at(-1) : undefined;
      const batches = await this.accepted.next(merchantId, after);
      if (batches.length === 0) continue;
      waiting.add(merchantId);
      return { merchantId, batches, events: readable(batches) };
    }
    return null;
  }

  /** Processes a chunk. Returns false if the merchant must wait, for another process or after an error. */
  private async finish(chunk: Chunk): Promise<boolean> {
    try {
      const done = await this.process(chunk);
      this.holds.delete(chunk.merchantId);
      return done;
    } catch (error) {
      this.holds.set(chunk.merchantId, performance.now() + HOLD_MS);
      this.log.warn({ msg: 'event batches waiting', merchant_id: chunk.merchantId, err: error });
      return false;
    }
  }

  /** Processes the batches together, or one by one after an error in the data. */
  private async process({ merchantId, batches, events }: Chunk): Promise<boolean> {
    try {
      return await this.count(merchantId, batches, events ?? distinctEvents(batches));
    } catch (error) {
      if (!(error instanceof UnreadableBatch) && !isDataError(error)) throw error;
      if (batches.length === 1) {
        await this.fail(merchantId, batches[0]!, error as Error);
        return true;
      }
    }
    for (const batch of batches)
      if (!(await this.process({ merchantId, batches: [batch], events: null }))) return false;
    return true;
  }

  /** Stores the events. Returns false if another process has the lock or has processed the batches. */
  private async count(
    merchantId: string,
    batches: readonly AcceptedBatch[],
    events: readonly BatchEvent[],
  ): Promise<boolean> {
    const added = await this.accepted.process(merchantId, batches, events);
    if (added === null) return false;
    const items = batches.reduce((sum, { item_count }) => sum + item_count, 0);
    eventBatches.inc({ outcome: 'processed' }, batches.length);
    trackedEvents.inc({ outcome: 'new' }, added);
    trackedEvents.inc({ outcome: 'repeated' }, items - added);
    return true;
  }

  /** Marks the batch as failed. The message is stored and not logged, because it may quote personal data. */
  private async fail(merchantId: string, batch: AcceptedBatch, error: Error): Promise<void> {
    await this.accepted.fail(batch, error.message);
    eventBatches.inc({ outcome: 'failed' });
    const code = 'code' in error ? String(error.code) : error.name;
    this.log.error({ msg: `event batch failed: ${code}`, batch_id: batch.batch_id, merchant_id: merchantId });
  }
}

/** Checks whether the data caused the error, so that a retry is useless. */
function isDataError(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && DATA_CLASSES.has(code.slice(0, 2));
}

function readable(batches: readonly AcceptedBatch[]): readonly BatchEvent[] | null {
  try {
    return distinctEvents(batches);
  } catch {
    return null;
  }
}
