import {
  Global,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type HttpConfig, httpConfig } from '../../config/config.js';
import { HealthRegistry } from '../../telemetry/health.js';
import { Log } from '../../telemetry/logger.js';
import type { EdgeAdapter } from '../fastify-adapter.js';
import type { Page } from './page.js';
import { PageListener } from './page-listener.js';
import { VisitorLimits } from './visitors.js';

/** A listener for each page, in processes with its role. Controllers of pages are in the modules of contexts. */
@Global()
@Module({
  providers: [VisitorLimits],
  exports: [VisitorLimits],
})
export class PagesModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly listeners = new Map<Page, PageListener>();

  constructor(
    private readonly host: HttpAdapterHost<EdgeAdapter>,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly log: Log,
    private readonly health: HealthRegistry,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { config, log, health, listeners } = this;
    for (const route of this.host.httpAdapter.pageRoutes) {
      if (!config.roles.includes(route.page.role)) continue;
      const listener = listeners.get(route.page) ?? new PageListener(route.page, config, log, health);
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
