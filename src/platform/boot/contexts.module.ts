import { Global, Inject, Module, type DynamicModule, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { declaredHandlers } from '../commands.js';
import { CONFIG, type Config } from '../config/config.js';
import { CONTEXTS, eventsOf, RUNNING_CONTEXTS, type Context, type Get } from '../context.js';
import { EventRegistry } from '../event-store/event-registry.js';
import { declaredSubscriptions } from '../projections/projection.js';
import { SubscriptionRegistry } from '../projections/subscription-registry.js';
import { WorkItems } from '../work/work-items.js';
import { refuseWhatIsForgotten } from './boot-checks.js';

/** The contexts: their modules, the table of their due work, and what they declared of events and subscriptions. */
@Global()
@Module({})
export class ContextsModule implements OnModuleInit {
  /** `running`: those whose modules run here; the events of the others are known all the same. */
  static of(config: Config, contexts: readonly Context[], running = contexts): DynamicModule {
    return {
      module: ContextsModule,
      imports: running.flatMap(({ module }) => module?.(config) ?? []),
      providers: [
        { provide: CONTEXTS, useValue: contexts },
        { provide: RUNNING_CONTEXTS, useValue: running },
        WorkItems,
      ],
      exports: [CONTEXTS, RUNNING_CONTEXTS, WorkItems],
    };
  }

  constructor(
    @Inject(CONTEXTS) private readonly contexts: readonly Context[],
    @Inject(RUNNING_CONTEXTS) private readonly running: readonly Context[],
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
    private readonly providers: ModuleRef,
    private readonly events: EventRegistry,
    private readonly subscriptions: SubscriptionRegistry,
  ) {}

  onModuleInit(): void {
    const get: Get = (token) => this.providers.get(token, { strict: false });
    for (const context of this.contexts) this.events.register(eventsOf(context), context.name);
    for (const { subscriptions } of this.running)
      this.subscriptions.register(...(subscriptions?.(get) ?? []));
    // A process that runs some of them has a part of what is declared.
    const isWhole = this.running === this.contexts;
    refuseWhatIsForgotten({
      contexts: this.contexts,
      events: this.events,
      subscriptions: this.subscriptions.all(),
      declaredSubscriptions: isWhole ? declaredSubscriptions : [],
      declaredHandlers: isWhole
        ? declaredHandlers.filter(({ sandbox }) => !sandbox || this.config.mode === 'sandbox')
        : [],
      provides: (type) => this.isProvided(type),
    });
  }

  private isProvided(type: Type): boolean {
    try {
      return this.providers.get<unknown>(type, { strict: false }) !== undefined;
    } catch {
      return false;
    }
  }
}
