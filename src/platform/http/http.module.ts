import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  All,
  Controller,
  Global,
  Inject,
  Injectable,
  Module,
  Req,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_INTERCEPTOR,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
} from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { httpConfig, type HttpConfig } from '../config/config.js';
import { ResponseStore } from '../idempotency/response-store.js';
import { Database } from '../postgres/database.js';
import { KeyedHash } from '../sealing/keyed-hash.js';
import { Log } from '../telemetry/logger.js';
import { listenOnSocket } from './admin/shell-socket.js';
import { ApiGuard, Public, requireGuards } from './api.guard.js';
import { toBacklog, drainHttp, Listener, routedServer } from './connections.js';
import { DocsController, OpenApiController } from './docs.controller.js';
import { EdgeHooks, type EdgeAdapter } from './fastify-adapter.js';
import { HealthController } from './health.controller.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { CONSOLE_PAGE, type Page } from './listeners.js';
import { MetricsServer } from './metrics-server.js';
import { readAssets, sendPageAsset } from './pages/assets.js';
import { OnPage } from './pages/page.js';
import { VisitorLimits } from './pages/visitors.js';
import { ProblemFilter } from './problem.filter.js';
import { Refusal } from './problem.js';
import { RateLimitGuard, RateLimits } from './rate-limit.guard.js';
import { MemoryBudget } from './request-body.js';
import { rawPath } from './request-state.js';

/** Refuses unknown paths on every listener, after the guards of the API have run. */
@Controller()
@Public()
class UnknownPathController {
  constructor(private readonly host: HttpAdapterHost<EdgeAdapter>) {}

  @All('*')
  refuse(@Req() request: FastifyRequest): never {
    if (request.edge.page !== null) throw DomainError.notFound('Page');
    const unknown = { status: 404, detail: `No such resource: ${request.method} ${rawPath(request)}` };
    throw new Refusal(this.host.httpAdapter.routes.wrongMethod(request) ?? unknown);
  }
}

/** The listeners of the pages whose role this process has, and the socket of the shell. */
@Injectable()
export class PageListeners implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly listeners: Listener[] = [];
  private removeSocket = (): void => undefined;

  constructor(
    private readonly host: HttpAdapterHost<EdgeAdapter>,
    private readonly discovery: DiscoveryService,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    const apis = this.discovery.getProviders().map(({ instance }) => instance as unknown);
    const controllers = this.discovery
      .getControllers()
      .filter((each) => this.discovery.getMetadataByDecorator(OnPage, each) === undefined)
      .map(({ metatype }) => metatype as Type);
    requireGuards(
      controllers,
      apis.filter((each) => each instanceof ApiGuard),
    );
    for (const { name, path } of this.pages()) {
      const [assets, constraints] = [readAssets(name), { listener: name }];
      this.host.httpAdapter
        .getInstance()
        .get(`${path}/assets/:file`, { constraints }, (request, reply) =>
          sendPageAsset(request, reply, assets),
        );
    }
  }

  async onApplicationBootstrap(): Promise<void> {
    const { config } = this;
    if (this.pages().size > 0) await this.host.httpAdapter.getInstance().ready();
    for (const page of this.pages()) {
      const server = this.open(page);
      const address = { port: page.port(config), host: config.host, backlog: toBacklog(config) };
      await new Promise<void>((done, failed) => server.once('error', failed).listen(address, done));
      if (page === CONSOLE_PAGE) await this.openShell();
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.removeSocket();
    await Promise.all(this.listeners.map((listener) => drainHttp(listener, this.config.shutdownGraceMs)));
  }

  /** Returns the port of a page, or null if this process does not have the role of the page. */
  portOf(page: Page): number | null {
    const listener = this.listeners.find((each) => each.page === page);
    return (listener?.server.address() as AddressInfo | null | undefined)?.port ?? null;
  }

  private pages(): ReadonlySet<Page> {
    const found = this.discovery
      .getControllers({ metadataKey: OnPage.KEY })
      .map((each) => this.discovery.getMetadataByDecorator(OnPage, each)!);
    return new Set(found.filter(({ role }) => this.config.roles.includes(role)));
  }

  private open(page: Page, isShell = false): Server {
    const { routing } = this.host.httpAdapter.getInstance();
    const server = routedServer(routing, page.requestTimeoutMs);
    this.listeners.push(new Listener(server, this.config.maxConnections, page, isShell));
    return server;
  }

  /** Opens the shell's socket. The process continues after a failure. */
  private async openShell(): Promise<void> {
    try {
      this.removeSocket = await listenOnSocket(this.open(CONSOLE_PAGE, true), this.config.dataDir);
    } catch (error) {
      this.log.warn(`npm run admin finds no socket of this process: ${(error as Error).message}`);
    }
  }
}

/** The hooks and filters of all requests, and the pages. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [UnknownPathController],
  providers: [
    { provide: APP_FILTER, useClass: ProblemFilter },
    {
      provide: MemoryBudget,
      inject: [httpConfig.KEY],
      useFactory: ({ requestMemoryMib }: HttpConfig) => new MemoryBudget(requestMemoryMib << 20),
    },
    EdgeHooks,
    PageListeners,
    VisitorLimits,
  ],
  exports: [MemoryBudget, PageListeners, VisitorLimits],
})
export class PagesModule {}

/** The HTTP interface of the service. A context with an API provides its ApiGuard as APP_GUARD. */
@Global()
@Module({
  imports: [PagesModule],
  controllers: [HealthController, DocsController, OpenApiController],
  providers: [
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
    ResponseStore,
    {
      provide: RateLimits,
      inject: [Database, KeyedHash],
      useFactory: ({ pool }: Database, keyedHash: KeyedHash) => new RateLimits(pool, keyedHash),
    },
    RateLimitGuard,
    MetricsServer,
  ],
  exports: [RateLimits, RateLimitGuard, MetricsServer, ResponseStore],
})
export class HttpModule {}
