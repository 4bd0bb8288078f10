import {
  Inject,
  Logger,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { CONFIG, type Config } from '../config/config.js';
import { withTimeout } from '../timeout.js';
import { BackgroundWork } from './background-work.js';

/** Does the {@link BackgroundWork} that stands in fields of providers, from the start of the process to its end. */
@Module({ imports: [DiscoveryModule] })
export class BackgroundModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(BackgroundModule.name);
  private works: readonly BackgroundWork[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'shutdownGraceMs'>,
  ) {}

  onApplicationBootstrap(): void {
    const { roles } = this.config;
    const providers = new Set(this.discovery.getProviders().map(({ instance }): unknown => instance));
    this.works = [...providers]
      .flatMap((provider) => Object.values(provider ?? {}) as unknown[])
      .flat()
      .filter((field) => field instanceof BackgroundWork)
      .filter(({ options: { role = 'worker' } }) =>
        role === 'any' ? roles.length > 0 : roles.includes(role),
      );
    for (const work of this.works) work.start();
  }

  /** Waits for the runs under way, but not beyond the grace: the rest of the process shall end in order. */
  async beforeApplicationShutdown(): Promise<void> {
    const works = this.works.filter(({ options }) => options.stopsWithProvider !== true);
    const running = new Set(works);
    const stopped = Promise.all(works.map((work) => work.stop().then(() => running.delete(work))));
    await withTimeout(this.config.shutdownGraceMs, stopped, () => undefined);
    for (const { options } of running)
      this.log.warn({ msg: 'background work did not stop', work: options.name });
  }
}
