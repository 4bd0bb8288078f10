import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/platform/postgres/database.js';
import { WorkItems } from '../../../src/platform/jobs/work-items.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import {
  Amplitude,
  type AmplitudeWaits,
} from '../../../src/contexts/tracking/forwarding/amplitude.adapter.js';
import { ForwardingStore } from '../../../src/contexts/tracking/forwarding/forwarding.store.js';
import {
  ForwardingProcessor,
  type ForwardingTimes,
} from '../../../src/contexts/tracking/forwarding/forwarding.processor.js';
import { ItemsBitmap } from '../../../src/contexts/tracking/batches/accepted-batches.store.js';
import type { Analytics } from '../../../src/contexts/tracking/forwarding/analytics.ports.js';
import { API_KEY } from './analytics-provider.js';
import { batchOf, eventItem, type SentItem } from '../../support/tracking/event-batches.js';
import { eventually } from '../../support/eventually.js';
import { trackingConfig } from '../../../src/contexts/tracking/tracking.config.js';

const SHORT_TIMES: ForwardingTimes = {
  leaseMs: 60_000,
  recordMs: 50,
  unavailable: { firstMs: 5, maxMs: 40 },
  blamed: { firstMs: 5, maxMs: 40 },
};

const SHORT_WAITS: AmplitudeWaits = { throttled: 60, quota: 120, project: 20 };

const WAKE_MS = 5;

export type TestItem = SentItem & { readonly event_id: string };

export const item = (fields: SentItem = {}): TestItem =>
  eventItem({ device_id: undefined, ...fields }) as TestItem;

export function items(count: number, fields: SentItem = {}): TestItem[] {
  return Array.from({ length: count }, (_, index) =>
    item({ user_external_id: `customer-${index}`, ...fields }),
  );
}

export const idsOf = (events: readonly TestItem[]): string[] => events.map(({ event_id }) => event_id).sort();

interface RunningProcessor {
  readonly forwarder: ForwardingProcessor;
  stop(): Promise<void>;
}

/** Processed batches in a database, and forwarders of several worker processes. */
export class ForwardingHarness {
  private readonly running: RunningProcessor[] = [];

  constructor(
    readonly database: Database,
    private readonly url: string,
    private readonly log: Log,
  ) {}

  /** Stores a processed batch and resolves to its id. `isNew` marks the new items. */
  async processed(
    events: readonly TestItem[] | string,
    isNew: (index: number) => boolean = () => true,
    merchantId: string = randomUUID(),
  ): Promise<string> {
    const body = typeof events === 'string' ? events : batchOf(events);
    const count = (JSON.parse(body) as { events: unknown[] }).events.length;
    const bitmap = ItemsBitmap.none(count);
    for (let index = 0; index < count; index += 1) if (isNew(index)) bitmap.add(index);
    const batchId = randomUUID();
    await this.database.query(
      `insert into tracking.batches
         (batch_id, merchant_id, received_at, item_count, body, state, new_items, processed_at, forward_at)
       values ($1, $2, clock_timestamp(), $3, $4, 'processed', $5, clock_timestamp(), clock_timestamp())`,
      [batchId, merchantId, count, Buffer.from(body), bitmap.bytes],
    );
    return batchId;
  }

  amplitude({ apiKey = API_KEY, timeoutMs = 5000 } = {}): Amplitude {
    return new Amplitude(
      {
        ...trackingConfig({}),
        amplitudeApiKey: apiKey,
        amplitudeUrl: this.url,
        analyticsTimeoutMs: timeoutMs,
      },
      SHORT_WAITS,
    );
  }

  /** Starts a forwarder that polls every few milliseconds. */
  start(
    analytics: Analytics | null = this.amplitude(),
    times: Partial<ForwardingTimes> = {},
  ): RunningProcessor {
    const forwarder = new ForwardingProcessor(
      new WorkItems(this.database),
      new ForwardingStore(this.database),
      this.log,
      analytics,
      { ...trackingConfig({ ROLES: 'worker' }), analyticsEventsPerSecond: 1_000_000 },
      { ...SHORT_TIMES, ...times },
    );
    forwarder.work.start();
    const timer = setInterval(() => forwarder.work.wake(), WAKE_MS);
    const running = {
      forwarder,
      stop: async () => {
        clearInterval(timer);
        await forwarder.beforeApplicationShutdown();
        if (analytics instanceof Amplitude) await analytics.onApplicationShutdown();
      },
    };
    this.running.push(running);
    return running;
  }

  async stop(): Promise<void> {
    await Promise.all(this.running.map((each) => each.stop()));
  }

  /** Resolves once nothing waits to be forwarded. */
  async drained(): Promise<void> {
    await eventually(async () => ((await this.waiting()) === 0 ? true : null));
  }

  async waiting(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `select count(*)::int as count from tracking.batches where state = 'processed'`,
    );
    return row!.count;
  }

  refused(): Promise<{ event_id: string; reason: string; batch_id: string }[]> {
    return this.database.query(
      'select event_id, reason, batch_id from tracking.refused_events order by event_id',
    );
  }

  provider(): Promise<{ failures: number; cause: string | null }[]> {
    return this.database.query("select failures, cause from work.items where kind = 'tracking.forwarding'");
  }

  async clear(): Promise<void> {
    await this.database.query('truncate tracking.batches, tracking.refused_events');
    await this.database.query(
      'update work.items set due_at = now(), lease = null, failures = 0, cause = null, failing_since = null',
    );
  }
}
