import { Global, Inject, Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { CLOCK, systemClock } from '../../kernel/clock.js';
import type { ProcessConfig } from '../config/config.js';
import { CONTEXTS, listEvents, type Context } from '../context.js';
import { EventCodec } from '../event-store/event-codec.js';
import { declaredSubscriptions, type SubscriptionDefinition } from '../projections/projection.js';
import { SubscriptionRegistry } from '../projections/subscription-registry.js';

/** Imports the modules of the contexts and registers their events and read models. */
@Global()
@Module({})
export class ContextsModule implements OnModuleInit {
  static forRoot(config: ProcessConfig, contexts: readonly Context[]): DynamicModule {
    return {
      module: ContextsModule,
      imports: contexts.flatMap(({ module }) => module?.(config) ?? []),
      providers: [
        { provide: CONTEXTS, useValue: contexts },
        { provide: CLOCK, useValue: systemClock },
      ],
      exports: [CONTEXTS, CLOCK],
    };
  }

  constructor(
    @Inject(CONTEXTS) private readonly contexts: readonly Context[],
    private readonly events: EventCodec,
    private readonly subscriptions: SubscriptionRegistry,
  ) {}

  onModuleInit(): void {
    for (const context of this.contexts) this.events.register(listEvents(context), context.name);
    for (const { readModels = [] } of this.contexts) this.subscriptions.register(...readModels);
    checkBoot(this.contexts, this.events, this.subscriptions.all(), declaredSubscriptions);
  }
}

/** Throws at boot for a missing registration. `declared` has the names of all declared subscriptions. */
export function checkBoot(
  contexts: readonly Context[],
  events: Pick<EventCodec, 'knows'>,
  subscriptions: readonly SubscriptionDefinition[],
  declared: Iterable<string>,
): void {
  for (const context of contexts) {
    const { name, upcasts = {}, publishes = {} } = context;
    const own = listEvents(context).map(({ type }) => type);
    const later = Object.values(upcasts).find((upcast) => upcast && !events.knows(upcast.to));
    if (later) throw new Error(`${name} upcasts to ${later.to}, an event type that no context declares`);
    const foreign = Object.keys(publishes).find((type) => !own.includes(type));
    if (foreign !== undefined)
      throw new Error(`${name} publishes ${foreign}, an event type that it does not declare`);
  }
  for (const { name, events: requested } of subscriptions) {
    const orphan = requested.find((type) => !events.knows(type));
    if (orphan !== undefined)
      throw new Error(`the subscription ${name} reads ${orphan}, an event type that no context declares`);
  }
  for (const name of declared) {
    if (!subscriptions.some((each) => each.name === name))
      throw new Error(`the subscription ${name} is declared, but not in readModels nor by provideSaga`);
  }
}
