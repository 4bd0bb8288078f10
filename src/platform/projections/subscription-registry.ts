import { Injectable, type InjectionToken, type Provider } from '@nestjs/common';
import type { SubscriptionDefinition } from './projection.js';

/** The registered read models and sagas. The runner starts after all modules are initialized. */
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

  get(name: string): SubscriptionDefinition {
    const definition = this.definitions.get(name);
    if (!definition) throw new Error(`there is no subscription ${name}`);
    return definition;
  }
}

/** The types that Nest injects for tokens: the instance of a class, otherwise no type. */
type Injected<Tokens extends readonly InjectionToken[]> = {
  [Place in keyof Tokens]: Tokens[Place] extends { readonly prototype: infer Instance } ? Instance : never;
};

export function provideSaga<const Tokens extends readonly InjectionToken[]>(
  inject: Tokens,
  create: (...parts: Injected<Tokens>) => SubscriptionDefinition,
): Provider {
  return {
    provide: Symbol('saga'),
    inject: [SubscriptionRegistry, ...inject],
    useFactory: (registry: SubscriptionRegistry, ...parts: Injected<Tokens>) => {
      const saga = create(...parts);
      registry.register(saga);
      return saga;
    },
  };
}
