import type { Aggregate, DomainEvent } from '../../../src/kernel/aggregate.js';
import { CLAIM_EVENTS } from '../../../src/platform/event-store/claims.js';
import type { Claim } from '../../../src/platform/event-store/command-loop-types.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import { EventRegistry } from '../../../src/platform/event-store/event-registry.js';
import type { EventStore } from '../../../src/platform/event-store/port.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';

type Added = DomainEvent<'counter.added.v1', { readonly by: number }>;
export const counter: Aggregate<number, Added> = {
  category: 'counter',
  initial: 0,
  evolve: (state, { type, data }) => (type === 'counter.added.v1' ? state + data.by : state),
};
export const add = (by: number): Added => ({ type: 'counter.added.v1', data: { by } });
export const phone = (key: string): Claim => ({
  category: 'phone',
  key,
  field: 'phone_number',
  message: 'is held',
});

export const noKeys = { obtain: async () => null, find: async () => new Map() };

export function loopOver(store: EventStore): CommandLoop {
  const registry = new EventRegistry();
  registry.register([...CLAIM_EVENTS, { type: 'counter.added.v1' }, { type: 'counter.closed.v1' }]);
  return new CommandLoop(store, new EventCodec(registry, noKeys));
}

/** The same store with some methods replaced. */
export function overridden(inner: EventStore, methods: Partial<EventStore>): EventStore {
  return Object.assign(Object.create(inner) as EventStore, methods);
}
