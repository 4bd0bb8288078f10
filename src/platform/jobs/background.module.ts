import {
  Inject,
  Logger,
  Module,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { processConfig, type ProcessConfig } from '../config/config.js';
import { ProcessFacts } from '../telemetry/process-facts.js';
import { withTimeout } from '../timeout.js';
import { BackgroundWork, findBackgroundWork, Periodic } from './background-work.js';

/**
 * Runs `@Background()` fields and `@Periodic()` methods. ScheduleModule is not used, because it clears
 * intervals when shutdown begins. A sender needs its heartbeat until it has released its claims.
 */
@Module({
  imports: [DiscoveryModule],
  providers: [SchedulerRegistry],
  exports: [SchedulerRegistry],
})
export class BackgroundModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(BackgroundModule.name);
  private works: readonly BackgroundWork[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly registry: SchedulerRegistry,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
    @Optional() private readonly facts?: ProcessFacts,
  ) {}

  onApplicationBootstrap(): void {
    const { roles } = this.config;
    const providers = new Set(this.discovery.getProviders().map(({ instance }): unknown => instance));
    const periodic = Periodic.discover(this.discovery);
    this.works = [...providers]
      .flatMap((provider) => findBackgroundWork(provider))
      .concat(periodic.map(({ value, call: run }) => new BackgroundWork({ ...value, run })))
      .filter(({ options: { role = 'worker' } }) =>
        role === 'any' ? roles.length > 0 : roles.includes(role),
      );
    for (const work of this.works) this.registry.addInterval(work.options.name, work.start());
    this.facts?.register('schedules', () => this.works.map(({ schedule }) => schedule));
  }

  /** Stops the work and waits for the current runs, at most for SHUTDOWN_GRACE_MS. */
  async beforeApplicationShutdown(): Promise<void> {
    const works = this.works.filter(({ options }) => options.stopsWithProvider !== true);
    const running = new Set(works);
    const stopped = Promise.all(works.map((work) => work.stop().then(() => running.delete(work))));
    await withTimeout(this.config.shutdownGraceMs, stopped, () => undefined);
    for (const { options } of running)
      this.log.warn({ msg: 'background work did not stop', work: options.name });
  }
}
