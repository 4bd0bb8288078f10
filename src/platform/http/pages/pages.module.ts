import {
  Global,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type HttpConfig, httpConfig } from '../../config/config.js';
import { Idempotency } from '../../idempotency/idempotency.js';
import { HealthRegistry } from '../../telemetry/health.js';
import { Log } from '../../telemetry/logger.js';
import type { EdgeAdapter } from '../fastify-adapter.js';
import { KeyedRequests } from '../keyed-requests.js';
import type { Page } from './page.js';
import { PageListener } from './page-listener.js';
import { VisitorLimits } from './visitors.js';

/** A listener for each page, in processes with its role. Controllers of pages are in the modules of contexts. */
@Global()
@Module({
  providers: [
    VisitorLimits,
    {
      provide: KeyedRequests,
      inject: [{ token: Idempotency, optional: true }],
      useFactory: (idempotency?: Idempotency) => idempotency && new KeyedRequests(idempotency),
    },
  ],
  exports: [VisitorLimits, KeyedRequests],
})
export class PagesModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly listeners = new Map<Page, PageListener>();

  constructor(
    private readonly host: HttpAdapterHost<EdgeAdapter>,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly log: Log,
    private readonly health: HealthRegistry,
    private readonly keyed: KeyedRequests,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { config, log, health, keyed, listeners } = this;
    for (const route of this.host.httpAdapter.pageRoutes) {
      if (!config.roles.includes(route.page.role)) continue;
      const listener = listeners.get(route.page) ?? new PageListener(route.page, config, log, health, keyed);
      listener.add(route);
      listeners.set(route.page, listener);
    }
    for (const listener of listeners.values()) await listener.listen();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.listeners.values()].map((listener) => listener.close()));
  }

  /** Where a page listens; null in a process without its role. */
  portOf(page: Page): number | null {
    return this.listeners.get(page)?.port ?? null;
  }
}
