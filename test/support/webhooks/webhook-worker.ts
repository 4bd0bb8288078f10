import { randomBytes } from 'node:crypto';
import type { Abstract, INestApplicationContext } from '@nestjs/common';
import { CommandBus, CqrsModule, type Command } from '@nestjs/cqrs';
import { Test } from '@nestjs/testing';
import { EventStoreModule } from '../../../src/platform/event-store/event-store.module.js';
import { ProjectionsModule } from '../../../src/platform/projections/projections.module.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { newId } from '../../../src/kernel/ids.js';
import { BackgroundModule } from '../../../src/platform/background/background.module.js';
import { ConfigModule } from '../../../src/platform/config/config.js';
import { readConfig } from '../../../src/composition.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { DatabaseModule } from '../../../src/platform/postgres/database.module.js';
import { RequestTicket } from '../../../src/platform/idempotency/ticket.js';
import { QueueModule } from '../../../src/platform/queue/queue.module.js';
import { SealingModule } from '../../../src/platform/sealing/sealing.module.js';
import { ReadinessModule } from '../../../src/platform/boot/readiness.module.js';
import type { MerchantCaller } from '../../../src/contexts/webhooks/application/caller.js';
import { Sweeper } from '../../../src/contexts/webhooks/application/delivering/sweeper.js';
import { RegisterWebhookEndpoint } from '../../../src/contexts/webhooks/application/endpoint-commands.js';
import { webhooks } from '../../../src/contexts/index.js';
import { ALL_CONTEXTS } from '../../../src/composition.js';
import { ContextsModule } from '../../../src/platform/boot/contexts.module.js';
import { eventually } from '../eventually.js';
import { NoMerchants, NoOperators } from '../no-operators.js';
import { payoutReceived } from '../payouts/evidence.js';

/** That of all workers of a test file: they may have one database. */
const MASTER_KEY = randomBytes(32).toString('hex');

/** One delivery as it stands in the table. */
export interface DeliveryRow {
  readonly delivery_id: string;
  readonly state: string;
  readonly attempts: number;
}

export interface RegisteredEndpoint {
  readonly id: string;
  readonly signing_secret: string;
}

export interface WebhookWorkerOptions {
  readonly databaseUrl: string;
  /** 64 hexadecimal digits; the same for all workers of a test file when absent. */
  readonly masterKey?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** False: nobody sweeps, so that only the queue and the saga wake lanes. */
  readonly sweeper?: boolean;
}

/** The part of the service that webhooks need, as a worker process has it. */
export class WebhookWorker {
  private constructor(private readonly app: INestApplicationContext) {}

  static async start({
    databaseUrl,
    masterKey,
    settings,
    sweeper,
  }: WebhookWorkerOptions): Promise<WebhookWorker> {
    const config = readConfig({
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE: '8',
      LOG_LEVEL: 'silent',
      METRICS_PORT: '0',
      MASTER_KEY: masterKey ?? MASTER_KEY,
      // A receiver on a busy machine may be slow: only tests of silence are in a hurry.
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1',
      WEBHOOK_TIMEOUT_MS: '30000',
      ...settings,
    });
    const platform = [ConfigModule.of(config), CqrsModule.forRoot(), BackgroundModule, DatabaseModule.of()];
    const builder = Test.createTestingModule({
      imports: [
        ...[...platform, SealingModule, EventStoreModule, ProjectionsModule, ReadinessModule, QueueModule],
        NoOperators,
        NoMerchants,
        ContextsModule.of(config, ALL_CONTEXTS, [webhooks]),
      ],
    });
    if (sweeper === false) builder.overrideProvider(Sweeper).useValue({});
    const module = await builder.compile();
    module.useLogger(false);
    return new WebhookWorker(await module.init());
  }

  get<T>(type: Abstract<T>): T {
    return this.app.get(type, { strict: false });
  }

  execute<R>(command: Command<R>): Promise<R> {
    return this.get(CommandBus).execute(command);
  }

  caller(merchantId: string): MerchantCaller {
    return { merchantId, metadata: {}, ticket: new RequestTicket(merchantId, null, '') };
  }

  async register(merchantId: string, url: string): Promise<RegisteredEndpoint> {
    const fields = { url, description: null, event_types: null };
    const { body } = await this.execute(new RegisterWebhookEndpoint(this.caller(merchantId), fields));
    return (JSON.parse(body) as { webhook_endpoint: RegisteredEndpoint }).webhook_endpoint;
  }

  /** Appends `count` payout.received events of the merchant. */
  async publish(merchantId: string, count = 1, custom_metadata?: string): Promise<void> {
    const events = Array.from({ length: count }, () => payoutReceived(merchantId, custom_metadata));
    const store = this.app.get<EventStore>(EVENT_STORE, { strict: false });
    await store.commit({ appends: [{ stream: `payout-${newId()}`, events, expected: 'no_stream' }] });
  }

  deliveries(endpointId: string): Promise<DeliveryRow[]> {
    return this.get(Database).query<DeliveryRow & Record<string, unknown>>(
      'select delivery_id, state, attempts from webhooks.deliveries where endpoint_id = $1',
      [endpointId],
    );
  }

  /** The endpoint's deliveries once there are `count` and none is pending. */
  settled(endpointId: string, count = 1): Promise<DeliveryRow[]> {
    return eventually(async () => {
      const found = await this.deliveries(endpointId);
      return found.length === count && found.every((row) => row.state !== 'pending') ? found : null;
    });
  }

  async status(endpointId: string): Promise<string | undefined> {
    const found = await this.get(Database).query<{ status: string }>(
      'select status from webhooks.endpoint_snapshots where endpoint_id = $1',
      [endpointId],
    );
    return found[0]?.status;
  }

  async close(): Promise<void> {
    await this.app.close();
  }
}
