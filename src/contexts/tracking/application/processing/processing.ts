import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { backoffMs, type Backoff } from '../../../../platform/background/backoff.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { failpoint } from '../../../../platform/failpoints.js';
import { Wakeable } from '../../../../platform/background/wakeable.js';
import { BatchArrivals } from '../batch-arrivals.js';
import { Partitions } from '../partitions.js';
import { AcceptedBatches, instantOf, type AcceptedBatch } from './accepted-batches.js';
import { BatchProcessor } from './batch-processor.js';
import { isDataError } from './data-error.js';
import { PreparedBatches, UnreadableBatch } from './prepared-batches.js';
import { ProcessingObserver } from './processing-observer.js';

const POLL_MS = 250;
const BACKOFF: Backoff = { firstMs: 250, mostMs: 10_000 };

/** What was read for one transaction. */
interface Chunk {
  readonly merchantId: string;
  readonly batches: readonly AcceptedBatch[];
  readonly prepared: PreparedBatches;
}

interface Hold {
  readonly failures: number;
  readonly until: number;
}

/**
 * Processes accepted batches: merchants take turns, each turn one transaction of bounded size, so that none waits behind
 * the backlog of another. While the database works on one chunk the next is read. Woken by acceptances in this process,
 * and by polling for those of others and for what a crash left behind.
 */
@Injectable()
export class Processing implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(Processing.name);
  private readonly active: boolean;
  private readonly work: Wakeable;
  /** Merchants whose turn is to come, in that order. */
  private readonly turns = new Set<string>();
  /** How many batches of a merchant are still to be taken one by one, after a chunk met a data error. */
  private readonly alone = new Map<string, number>();
  /** Merchants that are left alone for a while, after a failure that is not the fault of their data. */
  private readonly holds = new Map<string, Hold>();
  /** Nothing is asked for a while after the database could not say who waits. */
  private away: Hold = { failures: 0, until: 0 };
  private polling = false;
  private stopped = false;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'roles'>,
    arrivals: BatchArrivals,
    private readonly accepted: AcceptedBatches,
    private readonly processor: BatchProcessor,
    private readonly partitions: Partitions,
    private readonly observer: ProcessingObserver,
  ) {
    this.active = config.roles.includes('worker');
    this.work = new Wakeable(
      () => this.run(),
      (error) => this.putOff(error as Error),
    );
    if (this.active) arrivals.subscribe((merchantId) => this.wake(merchantId));
  }

  onApplicationBootstrap(): void {
    this.poll();
  }

  @Interval(POLL_MS)
  poll(): void {
    if (!this.active || Date.now() < this.away.until) return;
    this.polling = true;
    this.work.wake();
  }

  wake(merchantId: string): void {
    this.turns.add(merchantId);
    this.work.wake();
  }

  /** Finishes the transaction under way; what else was read stays accepted. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.work.stop();
  }

  /** Until nobody has a turn to come. */
  private async run(): Promise<void> {
    if (this.polling) {
      this.polling = false;
      await this.processor.endStandstills();
      for (const merchantId of await this.accepted.merchants()) this.turns.add(merchantId);
      this.away = { failures: 0, until: 0 };
    }
    let chunk = await this.next(null);
    while (chunk !== null && !this.stopped) {
      const following = this.next(chunk);
      // Looked at once this one is done; until then its failure must not count as unhandled.
      following.catch(() => undefined);
      const done = await this.finish(chunk);
      const next = await following;
      const skipped = !done && next?.merchantId === chunk.merchantId;
      // What comes after a chunk that is not done must not overtake it: the first accepted wins.
      chunk = skipped ? await this.next(null) : next;
    }
  }

  /** The next chunk of whoever has waited longest; that after `current` if it is the same merchant's. */
  private async next(current: Chunk | null): Promise<Chunk | null> {
    for (const merchantId of this.turns) {
      if (this.stopped) return null;
      this.turns.delete(merchantId);
      if ((this.holds.get(merchantId)?.until ?? 0) > Date.now()) continue;
      const after = current?.merchantId === merchantId ? current.batches.at(-1) : undefined;
      const chunk = await this.read(merchantId, after);
      if (chunk !== null) return chunk;
    }
    return null;
  }

  private async read(merchantId: string, after?: AcceptedBatch): Promise<Chunk | null> {
    const alone = this.alone.get(merchantId) ?? 0;
    const { batches, more } = await this.accepted.read(merchantId, {
      ...(after === undefined ? {} : { after }),
      ...(alone > 0 ? { most: 1 } : {}),
    });
    if (batches.length === 0) return null;
    failpoint('processing.read');
    if (more) this.turns.add(merchantId);
    try {
      const merchant = Buffer.from(merchantId.replaceAll('-', ''), 'hex');
      return { merchantId, batches, prepared: new PreparedBatches(merchant, batches) };
    } catch (error) {
      await this.failed(merchantId, batches, new UnreadableBatch((error as Error).message));
      return null;
    }
  }

  /** Whether the chunk is processed, by whomever, or has failed for good. */
  private async finish({ merchantId, batches, prepared }: Chunk): Promise<boolean> {
    try {
      const instants = batches.map(instantOf);
      const processed = await this.partitions.having(
        () => this.processor.process(merchantId, prepared),
        instants,
      );
      failpoint('processing.committed');
      this.holds.delete(merchantId);
      if (processed.outcome === 'stale') this.turns.add(merchantId);
      if (processed.outcome !== 'processed') return false;
      this.countAlone(merchantId);
      this.observer.processed(batches.length, prepared.items, processed.newEvents);
      return true;
    } catch (error) {
      await this.failed(merchantId, batches, error);
      return false;
    }
  }

  private async failed(merchantId: string, batches: readonly AcceptedBatch[], error: unknown): Promise<void> {
    if (!isDataError(error)) return this.hold(merchantId, error as Error);
    this.turns.add(merchantId);
    const [batch] = batches;
    if (batches.length > 1) {
      this.alone.set(merchantId, batches.length);
      return;
    }
    this.countAlone(merchantId);
    await this.accepted.fail(batch!, (error as Error).message);
    this.observer.failed(merchantId, batch!.batchId, error as Error);
  }

  private hold(merchantId: string, error: Error): void {
    const hold = longer(this.holds.get(merchantId));
    this.holds.set(merchantId, hold);
    this.log.warn(`batches of merchant ${merchantId} wait (failure ${hold.failures}): ${error.message}`);
  }

  private putOff(error: Error): void {
    this.away = longer(this.away);
    this.log.warn(`event batches wait (failure ${this.away.failures}): ${error.message}`);
  }

  private countAlone(merchantId: string): void {
    const left = (this.alone.get(merchantId) ?? 0) - 1;
    if (left > 0) this.alone.set(merchantId, left);
    else this.alone.delete(merchantId);
  }
}

function longer(hold: Hold = { failures: 0, until: 0 }): Hold {
  return { failures: hold.failures + 1, until: Date.now() + backoffMs(BACKOFF, hold.failures) };
}
