import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { eventItem } from '../../../../test/support/event-batches.js';
import { ProcessingLab } from '../../../../test/support/tracking/processing-lab.js';
import type { Database } from '../../../platform/postgres/database.js';

it('a merchant is not locked for ever by a process that stands still, or whose host is gone', async () => {
  const lab = await ProcessingLab.open();
  const { database } = lab.db;
  let standstill: unknown;
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction(async (tx, began) => {
      standstill = (await tx.query('show idle_in_transaction_session_timeout')).rows[0];
      return work(tx, began);
    }, options);
  const watched = Object.assign(Object.create(database) as Database, { transaction });
  await lab.accept(randomUUID(), [eventItem()]);
  await lab.settle([lab.worker(watched)]);
  expect(standstill).toEqual({ idle_in_transaction_session_timeout: '30s' });
  expect((await database.query('show idle_in_transaction_session_timeout'))[0]).toEqual({
    idle_in_transaction_session_timeout: '0',
  });
  await lab.close();
});
