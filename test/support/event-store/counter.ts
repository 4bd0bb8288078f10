import type fc from 'fast-check';
import type { Aggregate, DomainEvent } from '../../../src/kernel/aggregate.js';
import { CLAIM_EVENTS } from '../../../src/platform/event-store/claims.js';
import type {
  Claim,
  Executed,
  ExecuteOptions,
} from '../../../src/platform/event-store/command-loop-types.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
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

/** A loop with empty `metadata` by default, for tests that are not about causes. */
export class CauselessLoop extends CommandLoop {
  override execute<S, E extends DomainEvent>(
    aggregate: Aggregate<S, E>,
    id: string,
    decide: (state: S) => readonly E[],
    options: Partial<ExecuteOptions<S>> = {},
  ): Promise<Executed<S, E>> {
    return super.execute(aggregate, id, decide, { metadata: {}, ...options });
  }
}

export function loopOver(store: EventStore): CauselessLoop {
  const codec = new EventCodec().register([
    ...CLAIM_EVENTS,
    { type: 'counter.added.v1' },
    { type: 'counter.closed.v1' },
  ]);
  return new CauselessLoop(store, codec);
}

export const overridden = (inner: EventStore, methods: Partial<EventStore>): EventStore =>
  Object.assign(Object.create(inner) as EventStore, methods);

/** A store whose calls the scheduler delays, to interleave two processes in any order. */
export function scheduled(inner: EventStore, scheduler: fc.Scheduler): EventStore {
  return overridden(inner, {
    commit: async (commit) => {
      await scheduler.schedule(Promise.resolve(), 'commit');
      return inner.commit(commit);
    },
    readStream: async (...args) => {
      await scheduler.schedule(Promise.resolve(), 'read');
      return inner.readStream(...args);
    },
  });
}
