import type { Type } from '@nestjs/common';
import type { DeclaredHandler } from '../commands.js';
import type { Context } from '../context.js';
import type { EventRegistry } from '../event-store/event-registry.js';
import type { SubscriptionDefinition } from '../projections/projection.js';

/** What is put together of the contexts that run. */
export interface Boot {
  readonly contexts: readonly Context[];
  readonly events: Pick<EventRegistry, 'find'>;
  readonly subscriptions: readonly SubscriptionDefinition[];
  /** Names that the code declares. */
  readonly declaredSubscriptions: Iterable<string>;
  readonly declaredHandlers: readonly Pick<DeclaredHandler, 'command' | 'handler'>[];
  provides(type: Type): boolean;
}

/** Throws a sentence that names what was forgotten; a service without it would only fail later, at its first use. */
export function refuseWhatIsForgotten(boot: Boot): void {
  const { contexts, events, subscriptions } = boot;
  for (const { name, upcasts = {}, publishes = {}, events: own = [] } of contexts) {
    const later = Object.values(upcasts).find((upcast) => upcast && !events.find(upcast.to));
    if (later) throw new Error(`${name} upcasts to ${later.to}, an event type without an owner`);
    const foreign = Object.keys(publishes).find((type) => !own.includes(type));
    if (foreign !== undefined)
      throw new Error(`${name} publishes ${foreign}, an event type that it does not declare`);
  }
  for (const { name, events: requested } of subscriptions) {
    const orphan = requested.find((type) => !events.find(type));
    if (orphan !== undefined)
      throw new Error(`the subscription ${name} wants ${orphan}, an event type without an owner`);
  }
  for (const name of boot.declaredSubscriptions) {
    if (!subscriptions.some((each) => each.name === name))
      throw new Error(`the subscription ${name} is declared and never registered: no context lists it`);
  }
  for (const { command, handler } of boot.declaredHandlers) {
    if (!boot.provides(handler))
      throw new Error(`the command ${command} has no handler: no module provides ${handler.name}`);
  }
}
