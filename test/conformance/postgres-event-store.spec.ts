import { testDatabase } from '../support/postgres.js';
import { describeEventStore } from './conformance.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';

describeEventStore('PostgreSQL', async () => {
  const database = await testDatabase();
  return { open: async () => new PostgresEventStore(database.pool), cleanUp: () => database.drop() };
});
