import {
  Inject,
  Logger,
  Module,
  Optional,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { type StoreConfig, storeConfig } from '../config/config.js';
import { ConfigError } from '../config/settings.js';
import { FollowedLog } from '../event-store/followed-log.js';
import { EVENT_STORE, type EventStore } from '../event-store/port.js';
import { ClockCheck } from '../postgres/clock-check.js';
import { Database } from '../postgres/database.js';
import { SubscriptionLag } from '../projections/subscription-lag.js';
import { SubscriptionRunner } from '../projections/subscription-runner.js';
import { HealthRegistry, NotReady } from '../telemetry/health.js';
import { healthCheck, measureOnScrape, subscriptionHalted, subscriptionLag } from '../telemetry/metrics.js';
import { ProcessFacts } from '../telemetry/process-facts.js';
import { TelemetryModule } from '../telemetry/telemetry.module.js';

/** Readiness and metrics of the database, the clock, the event store and the subscriptions. */
@Module({ imports: [TelemetryModule] })
export class ReadinessModule implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ReadinessModule.name);
  private readonly endings: (() => void)[] = [];

  constructor(
    private readonly health: HealthRegistry,
    private readonly database: Database,
    @Inject(EVENT_STORE) private readonly events: EventStore,
    @Inject(storeConfig.KEY) private readonly config: StoreConfig,
    private readonly facts: ProcessFacts,
    @Optional() private readonly clock?: ClockCheck,
    @Optional() private readonly lag?: SubscriptionLag,
    @Optional() private readonly followedLog?: FollowedLog,
    @Optional() private readonly runner?: SubscriptionRunner,
  ) {}

  onModuleInit(): void {
    this.health.register({ name: 'database', check: () => this.database.requireWrites() });
    this.health.register({ name: 'event_store', check: () => this.checkEvents() });
    this.measure(async () => {
      const { checks } = await this.health.report();
      healthCheck.reset();
      for (const [check, { status }] of Object.entries(checks))
        healthCheck.set({ check }, status === 'ok' ? 1 : 0);
    });
    const { clock } = this;
    if (clock !== undefined) this.health.register({ name: 'clock', check: () => clock.require() });
    if (this.lag !== undefined) this.watchViews(this.lag);
    if (this.runner !== undefined) this.watchSubscriptions(this.runner);
  }

  onApplicationShutdown(): void {
    for (const end of this.endings) end();
  }

  private measure(measurement: () => Promise<void>): void {
    this.endings.push(measureOnScrape(measurement));
  }

  private async checkEvents(): Promise<void> {
    await this.events.ping();
    try {
      await this.followedLog?.verify();
    } catch (error) {
      // The health report omits the message.
      if (error instanceof ConfigError) this.logger.error(error.message);
      throw error;
    }
  }

  private watchViews(lag: SubscriptionLag): void {
    this.measure(async () => {
      for (const { name, ageMs } of await lag.all())
        subscriptionLag.set({ subscription: name }, ageMs / 1000);
    });
    this.health.register({
      name: 'views',
      check: async () => {
        const late = (await lag.all()).some(
          ({ ageMs, isAwaited }) => isAwaited && ageMs > this.config.projectionLagLimitMs,
        );
        if (late) throw new Error('a subscription is too far behind');
      },
    });
  }

  /**
   * Reports a forged event as not ready, because no process may handle the event. A subscription that waits
   * for a newer version stays ready: a newer process may do its work. If none does, the check `views` fails.
   */
  private watchSubscriptions(runner: SubscriptionRunner): void {
    const halted = () => runner.states().filter(({ haltedAt }) => haltedAt !== null);
    this.measure(async () => {
      subscriptionHalted.reset();
      for (const { name, haltedAt } of halted())
        subscriptionHalted.set(
          { subscription: name, type: haltedAt!.isForged ? 'forged' : haltedAt!.type },
          1,
        );
    });
    this.facts.register('halted', () =>
      halted().map(({ name, haltedAt, haltedSince }) => ({
        name,
        position: haltedAt!.position,
        at: (haltedSince ?? new Date()).toISOString(),
      })),
    );
    this.health.register({
      name: 'subscriptions',
      check: async () => {
        const forged = halted().find(({ haltedAt }) => haltedAt!.isForged)?.haltedAt;
        if (forged) throw new NotReady(`the event at position ${forged.position} is forged: see the log`);
        const waiting = halted().map(
          ({ name, haltedAt }) => `${name} waits at the unknown ${haltedAt!.type}`,
        );
        return waiting.length === 0 ? undefined : waiting.join('; ');
      },
    });
  }
}
