import { Injectable, type InjectionToken, type Provider } from '@nestjs/common';
import type { SubscriptionDefinition } from './projection.js';

/** The read models and sagas of the contexts that run here; the runner starts once all modules are initialized. */
@Injectable()
export class SubscriptionRegistry {
  private readonly definitions = new Map<string, SubscriptionDefinition>();

  register(...definitions: readonly SubscriptionDefinition[]): void {
    for (const definition of definitions) {
      if (this.definitions.has(definition.name)) {
        throw new Error(`the subscription ${definition.name} is registered twice`);
      }
      this.definitions.set(definition.name, definition);
    }
  }

  all(): readonly SubscriptionDefinition[] {
    return [...this.definitions.values()];
  }

  /** Throws for a name that is not registered. */
  get(name: string): SubscriptionDefinition {
    const definition = this.definitions.get(name);
    if (!definition) throw new Error(`there is no subscription ${name}`);
    return definition;
  }
}

/** Provides a saga: Nest calls `create` with the providers that `inject` lists, and the saga is registered. */
export function provideSaga(
  inject: readonly InjectionToken[],
  create: (...parts: never[]) => SubscriptionDefinition,
): Provider {
  return {
    provide: Symbol('saga'),
    inject: [SubscriptionRegistry, ...inject],
    useFactory: (registry: SubscriptionRegistry, ...parts: never[]) => registry.register(create(...parts)),
  };
}
