import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { openEventStoreDb } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import type { EventStore } from '../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { InMemoryEventStore, type Memory } from '../support/in-memory-event-store.js';
import { onTestDatabase } from '../support/postgres.js';
import { describeReading } from './reading.conformance.js';
import type { Subject } from './support.js';
import { describeWriting } from './writing.conformance.js';

const eventStoreDb = process.env['EVENTSTOREDB_URL'];

/** Tests one event store. Fresh stream names allow a store with a history. */
function describeEventStore(name: string, openStore: () => EventStore): void {
  describe(`${name} as an event store`, () => {
    const instances: EventStore[] = [];
    const open = (): EventStore => {
      instances.push(openStore());
      return instances.at(-1)!;
    };
    const subject = { open } as Subject & { store: EventStore };
    beforeAll(() => void (subject.store = open()));
    afterAll(() => Promise.all(instances.map((instance) => instance.close())));
    describeWriting(subject);
    describeReading(subject);
  });
}

const db = onTestDatabase();
describeEventStore('PostgreSQL', () => new PostgresEventStore(db.pool));

for (const atomic of [true, false]) {
  const memory: Memory = { events: [], responses: new Map() };
  const kind = atomic ? 'atomic' : 'not atomic';
  describeEventStore(`memory (${kind})`, () => new InMemoryEventStore(atomic, memory));
}

if (eventStoreDb === undefined)
  it.todo('EventStoreDB as an event store: runs when EVENTSTOREDB_URL names a server');
else describeEventStore('EventStoreDB', () => openEventStoreDb(eventStoreDb));
