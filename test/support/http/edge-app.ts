import { randomUUID } from 'node:crypto';
import { Controller, Delete, Get, Global, Inject, Module, Patch, Post, Body, HttpCode } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SignatureGuard } from '../../../src/contexts/access/credentials/signature.guard.js';
import type { IdempotencyTicket } from '../../../src/platform/idempotency/ticket.js';
import { AlreadyResponded } from '../../../src/platform/event-store/command-loop-types.js';
import { OPEN_EVENT_STORE } from '../../../src/platform/event-store/open-event-store.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import { CLOCK, systemClock } from '../../../src/kernel/clock.js';
import { CONFIG_PARTS, readConfig } from '../../../src/composition.js';
import { Fault } from '../../../src/kernel/fault.js';
import { configModule } from '../../../src/platform/config/config.js';
import { Database } from '../../../src/platform/postgres/database.js';
import {
  StoresResponseWithEvents,
  ListQuery,
  MerchantId,
  Ticket,
  UuidParam,
  ValidBody,
  ValidQuery,
} from '../../../src/platform/http/decorators.js';
import { MerchantDirectory, type ApiCaller } from '../../../src/platform/http/merchant-directory.js';
import { PageSize } from '../../../src/platform/http/list-query.js';
import { Field, Nested } from '../../../src/platform/dto/field.js';
import { digits, integer, text } from '../../../src/platform/dto/rules.js';
import { EdgeAdapter } from '../../../src/platform/http/fastify-adapter.js';
import { HttpModule } from '../../../src/platform/http/http.module.js';
import { RateLimitGuard } from '../../../src/platform/http/rate-limit.guard.js';
import { Reply } from '../../../src/platform/http/reply.js';
import { KeyedHash } from '../../../src/platform/sealing/keyed-hash.js';
import { Sealer } from '../../../src/platform/sealing/sealer.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { ReadinessModule } from '../../../src/platform/boot/readiness.module.js';
import { SignedClient } from './signed-client.js';
import { afterAll, beforeAll } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../postgres.js';

class Inner {
  @Field(text({}, (value) => (value === '' ? new Fault('must not be blank') : value)))
  url!: string;

  @Field(integer(0, 9))
  size!: number;
}

class Wrapped {
  @Nested(() => Inner)
  wrapper!: Inner;
}

class SizeQuery {
  @Field(digits(1, 10), { optional: true, default: 5 })
  size!: number;
}

class ListOfThings {
  @PageSize(1000, 'Items per page.')
  page_size!: number;
}

/** Records the effects of the routes below. `hold` keeps requests to /slow pending. */
class Probe {
  runs = 0;
  private gate: Promise<void> = Promise.resolve();
  release: () => void = () => undefined;

  hold(): void {
    this.gate = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  passed(): Promise<void> {
    return this.gate;
  }
}

/** Routes that respond in every way that the edge supports. */
@Controller('merchants/v1/probe')
class ProbeController {
  constructor(
    @Inject(Probe) private readonly probe: Probe,
    @Inject(EVENT_STORE) private readonly events: EventStore,
  ) {}

  @Get('whoami')
  whoami(@MerchantId() merchantId: string, @ValidQuery() { size }: SizeQuery) {
    return { merchant_id: merchantId, size };
  }

  @Get('list')
  async list(@ListQuery() _: ListOfThings) {
    this.probe.runs += 1;
    await this.probe.passed();
    return { things: [] };
  }

  @Get('things/:id')
  thing(@UuidParam('id', 'Thing') id: string) {
    return { id };
  }

  /** Commits the response with the events, like every use case that writes events. */
  @Post('commit')
  @StoresResponseWithEvents()
  async commit(@Ticket() ticket: IdempotencyTicket, @Body() body: { fail?: string }): Promise<Reply> {
    this.probe.runs += 1;
    if (body.fail === 'unexpected') throw new Error('the password is hunter2');
    const id = ticket.id('thing');
    const text = JSON.stringify({ thing: { id, run: randomUUID() } });
    const event = { id: randomUUID(), type: 'probe.committed.v1', data: { id }, metadata: {} };
    const append = { stream: `probe-${id}`, events: [event], expected: 'no_stream' as const };
    const response = ticket.response(201, text);
    const result = await this.events.commit({
      appends: [append],
      ...(response === undefined ? {} : { response }),
    });
    if (result.outcome === 'responded') throw new AlreadyResponded(result.response);
    return new Reply(201, text);
  }

  @Post('plain')
  plain(@Body() body: unknown) {
    this.probe.runs += 1;
    return { run: this.probe.runs, body: body ?? null };
  }

  @Post('slow')
  async slow() {
    this.probe.runs += 1;
    await this.probe.passed();
    return { run: this.probe.runs };
  }

  @Post('valid')
  valid(@ValidBody() body: Wrapped) {
    return { url: body.wrapper.url };
  }

  @Patch('plain')
  patch() {
    return { run: ++this.probe.runs };
  }

  @Delete('plain')
  @HttpCode(204)
  remove(): void {
    this.probe.runs += 1;
  }
}

export type EdgeApp = Awaited<ReturnType<typeof startEdgeApp>>;

/** An edge and its database for the tests of a file or a `describe`. `beforeAll` sets its members. */
export function onEdgeApp(
  env: Readonly<Record<string, string>> = {},
): EdgeApp & { readonly db: TestDatabase } {
  const edge = {} as EdgeApp & { readonly db: TestDatabase };
  beforeAll(async () => {
    const db = await testDatabase();
    Object.assign(edge, await startEdgeApp(db.database, env), { db });
  });
  afterAll(async () => {
    await edge.close();
    await edge.db.drop();
  });
  return edge;
}

/** Starts the edge alone, over real sockets and a real database, with routes that record its effects. */
export async function startEdgeApp(database: Database, env: Readonly<Record<string, string>> = {}) {
  const config = readConfig({ LOG_LEVEL: 'silent', ...env });
  /** Merchants by their svc-api-key. */
  const merchants = new Map<string, ApiCaller>();
  const probe = new Probe();
  const events = new PostgresEventStore(database.pool);

  @Global()
  @Module({
    imports: [configModule(config, CONFIG_PARTS), HttpModule, ReadinessModule],
    controllers: [ProbeController],
    providers: [
      { provide: Database, useValue: unclosed(database) },
      { provide: EVENT_STORE, useValue: events },
      { provide: OPEN_EVENT_STORE, useValue: { responses: events } },
      { provide: CLOCK, useValue: systemClock },
      { provide: MerchantDirectory, useValue: { find: async (key: string) => merchants.get(key) ?? null } },
      { provide: APP_GUARD, useClass: SignatureGuard },
      { provide: Probe, useValue: probe },
      { provide: Sealer, useValue: new Sealer(Buffer.alloc(32, 7)) },
      { provide: KeyedHash, useValue: new KeyedHash(Buffer.alloc(32, 7)) },
    ],
    exports: [CLOCK, Database, EVENT_STORE, OPEN_EVENT_STORE, KeyedHash, MerchantDirectory, Sealer],
  })
  class EdgeTestModule {}

  const adapter = new EdgeAdapter(config);
  const app = await NestFactory.create<NestFastifyApplication>(EdgeTestModule, adapter, { logger: false });
  app.useGlobalGuards(app.get(RateLimitGuard));
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return {
    app,
    adapter,
    url,
    probe,
    log: app.get(Log),
    merchants,
    client: (merchant: Partial<ApiCaller> = {}) => {
      const merchantId = randomUUID();
      const privateKey = merchant.privateKeys?.[0] ?? `sk_test_${randomUUID()}`;
      const defaults = { merchantId, privateKeys: [privateKey], status: 'active' as const, ipAllowList: [] };
      merchants.set(merchantId, { ...defaults, ...merchant });
      return new SignedClient(url, { apiKey: merchantId, privateKey });
    },
    close: () => app.close(),
  };
}

/** Prevents the app of one spec from closing the shared database. */
const unclosed = (database: Database): Database =>
  Object.create(database, { onApplicationShutdown: { value: () => undefined } }) as Database;
