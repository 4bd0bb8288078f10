import 'reflect-metadata';
import { CqrsModule } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { EventStoreModule } from '../../../src/platform/event-store/event-store.module.js';
import { ProjectionsModule } from '../../../src/platform/projections/projections.module.js';
import { CLOCK, type Clock } from '../../../src/kernel/clock.js';
import { BackgroundModule } from '../../../src/platform/background/background.module.js';
import { ConfigModule } from '../../../src/platform/config/config.js';
import { readConfig } from '../../../src/composition.js';
import { DatabaseModule } from '../../../src/platform/postgres/database.module.js';
import { drainHttp } from '../../../src/platform/http/connections.js';
import { EdgeAdapter } from '../../../src/platform/http/fastify-adapter.js';
import { HttpModule } from '../../../src/platform/http/http.module.js';
import { IdempotencyModule } from '../../../src/platform/idempotency/idempotency.module.js';
import { ALL_CONTEXTS } from '../../../src/composition.js';
import { access, tracking, users } from '../../../src/contexts/index.js';
import { ContextsModule } from '../../../src/platform/boot/contexts.module.js';
import { SealingModule } from '../../../src/platform/sealing/sealing.module.js';
import { ReadinessModule } from '../../../src/platform/boot/readiness.module.js';
import {
  DEFAULT_TIMES,
  FORWARDING_TIMES,
  type ForwardingTimes,
} from '../../../src/contexts/tracking/application/forwarding/forwarder.js';
import { CrashingProxy, type Side } from '../database/crashing-proxy.js';
import { NoOperators } from '../no-operators.js';

const SETTINGS: Readonly<Record<string, string>> = {
  PORT: '0',
  WIDGET_PORT: '0',
  ADMIN_PORT: '0',
  PORTAL_PORT: '0',
  PAY_PORT: '0',
  METRICS_PORT: '0',
  LOG_LEVEL: 'silent',
  DATABASE_POOL_SIZE: '6',
  RATE_LIMIT_PER_MINUTE: '1000000',
  RATE_LIMIT_PER_IP_PER_MINUTE: '1000000',
  // The clock of these processes jumps over months, and the books are compared with the bodies in the end.
  TRACKING_RAW_DAYS: '3650',
  // The chain is not used.
  CHAIN_RPC_URL: 'http://127.0.0.1:9',
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
};

/** A forwarder that died is replaced soon. */
const TIMES: ForwardingTimes = {
  ...DEFAULT_TIMES,
  leaseMs: 1000,
  unavailable: { firstMs: 50, maxMs: 200 },
};

interface KillableServiceOptions {
  readonly databaseUrl: string;
  readonly masterKey: string;
  /** Both process and forward events; `api` also takes them in. */
  readonly role: 'api' | 'worker';
  readonly clock: Clock;
}

/** A service process, simulated in this one: it can die at any message to its database, and be replaced. */
export class KillableService {
  dead = false;

  private constructor(
    readonly app: NestFastifyApplication,
    private readonly adapter: EdgeAdapter,
    private readonly proxy: CrashingProxy,
    private readonly graceMs: number,
    /** Where the API listens; empty for a worker. */
    readonly url: string,
  ) {
    void proxy.end.then(() => (this.dead = true));
  }

  static async start({
    databaseUrl,
    masterKey,
    role,
    clock,
  }: KillableServiceOptions): Promise<KillableService> {
    const proxy = await CrashingProxy.open(databaseUrl);
    const config = readConfig({
      ...SETTINGS,
      ROLES: role === 'api' ? 'api,worker' : role,
      DATABASE_URL: proxy.url,
      MASTER_KEY: masterKey,
    });
    const imports = [
      ...[ConfigModule.of(config), CqrsModule.forRoot(), BackgroundModule],
      ...[DatabaseModule.of(), SealingModule, EventStoreModule, ProjectionsModule, ReadinessModule],
      ...(role === 'api' ? [IdempotencyModule, HttpModule] : []),
      NoOperators,
      ContextsModule.of(config, ALL_CONTEXTS, role === 'api' ? [tracking, users, access] : [tracking, users]),
    ];
    const module = await Test.createTestingModule({ imports })
      .overrideProvider(CLOCK)
      .useValue(clock)
      .overrideProvider(FORWARDING_TIMES)
      .useValue(TIMES)
      .compile();
    const adapter = new EdgeAdapter(config);
    const app = module.createNestApplication<NestFastifyApplication>(adapter);
    app.useLogger(false);
    if (role === 'worker') await app.init();
    else await app.listen(0, '127.0.0.1');
    const url = role === 'worker' ? '' : await app.getUrl();
    return new KillableService(app, adapter, proxy, config.shutdownGraceMs, url);
  }

  /** From now on it dies at its `nth` message to the database, if it gets that far. */
  dieAt(nth: number, side: Side): void {
    this.proxy.endAt(nth, side);
  }

  /** Ends it, if it is not dead yet, and closes what is left of it. */
  async bury(): Promise<void> {
    this.proxy.endNow();
    // Its clients lose their connections too: one that is kept would hold the rest of it for a minute.
    await drainHttp(this.adapter, 0);
    await this.app.close().catch(() => undefined);
  }

  async stop(): Promise<void> {
    await drainHttp(this.adapter, this.graceMs);
    await this.app.close();
    this.proxy.endNow();
  }
}
