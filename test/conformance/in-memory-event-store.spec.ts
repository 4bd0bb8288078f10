import { describeEventStore } from './conformance.js';
import { InMemoryEventStore, type Memory } from '../support/in-memory-event-store.js';

for (const atomic of [true, false]) {
  describeEventStore(`memory (${atomic ? 'atomic' : 'not atomic'})`, async () => {
    const memory: Memory = { events: [], responses: new Map() };
    return { open: async () => new InMemoryEventStore(atomic, memory), cleanUp: async () => undefined };
  });
}
