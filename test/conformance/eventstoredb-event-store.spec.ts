import { describe, it } from '@jest/globals';
import { describeEventStore } from './conformance.js';
import { openEventStoreDb } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';

const url = process.env['EVENTSTOREDB_URL'];

if (url === undefined) {
  describe('EventStoreDB as an event store', () => {
    it.todo('runs when EVENTSTOREDB_URL names a server');
  });
} else {
  describeEventStore('EventStoreDB', async () => ({
    open: async () => openEventStoreDb(url),
    cleanUp: async () => undefined,
  }));
}
