import { testDatabase } from '../../../test/support/postgres.js';
import { describeEventStore } from '../conformance.js';
import { PostgresEventStore } from './postgres-event-store.js';

describeEventStore('PostgreSQL', async () => {
  const database = await testDatabase();
  return { open: async () => new PostgresEventStore(database.pool), cleanUp: () => database.drop() };
});
