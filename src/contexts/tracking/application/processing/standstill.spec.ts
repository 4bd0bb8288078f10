import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { from as copyFrom } from 'pg-copy-streams';
import { eventItem } from '../../../../../test/support/event-batches.js';
import { ProcessingLab } from '../../../../../test/support/tracking/processing-lab.js';
import { eventually } from '../../../../../test/support/eventually.js';
import type { Database } from '../../../../platform/postgres/database.js';

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

it('nor by one that stands still in the middle of its copy, where no timeout of the session counts', async () => {
  const lab = await ProcessingLab.open();
  const merchantId = randomUUID();
  const stopped = await lab.db.pool.connect();
  stopped.on('error', () => undefined);
  await stopped.query(
    'begin; set local statement_timeout = 1; set local idle_in_transaction_session_timeout = 1',
  );
  await stopped.query('select pg_advisory_xact_lock(7331, hashtext($1))', [merchantId]);
  stopped.query(copyFrom('copy tracking.events (event_id) from stdin')).on('error', () => undefined);
  await lab.accept(merchantId, [eventItem()]);
  const { processing } = lab.worker();
  const processed = async (): Promise<boolean> => {
    processing.poll();
    const { rows } = await lab.db.pool.query(`select from tracking.batches where state = 'processed'`);
    return rows.length === 1;
  };
  await eventually(processed);
  stopped.release(true);
  await lab.close();
});
