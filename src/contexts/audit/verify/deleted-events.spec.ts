import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../../test/support/eventually.js';
import { freshReport } from '../../../../test/support/fresh-report.js';
import { SubscriptionHarness } from '../../../../test/support/event-store/subscription-harness.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { beginLedger, Ledger } from '../ledger/ledger.store.js';
import { LEDGER, LedgerAnchor, ledgerFollower } from '../ledger/ledger-follower.saga.js';

describe('a log whose newest events were deleted next to the running service', () => {
  let harness: SubscriptionHarness;
  let ledger: Ledger;

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    harness = await SubscriptionHarness.open();
    ledger = new Ledger(harness.database.database);
    const logId = await harness.writer.identity();
    await harness.database.database.transaction((tx) => beginLedger(tx, logId, harness.sealer));
  });
  afterEach(() => harness.end());
  afterAll(async () => {
    jest.restoreAllMocks();
    await harness.database.drop();
  });

  /** The check of a process that follows the log. */
  function started(): () => Promise<{ readonly status: string; readonly detail?: string } | undefined> {
    const health = new HealthRegistry();
    const anchor = new LedgerAnchor(health, ledger, harness.writer);
    harness.process(ledgerFollower(harness.writer, harness.sealer, anchor, async () => null)).runner.start();
    return async () => (await freshReport(() => health.report())).checks['ledger'];
  }
  const sizeOf = async (): Promise<number | undefined> => (await ledger.state())?.tree.size;
  const deleted = async (events: number): Promise<string> => {
    const { pool } = harness.database;
    await pool.query(
      `create table kept as select * from event_store.events order by position desc limit ${events}`,
    );
    await pool.query('delete from event_store.events where position in (select position from kept)');
    const { rows } = await pool.query<{ last: string }>('select max(position) as last from kept');
    return rows[0]!.last;
  };

  it.each([1, 5])(
    'is found after later writes, by a new process too, until the %s events are back',
    async (count) => {
      const before = (await sizeOf()) ?? 0;
      const check = started();
      await harness.write(9);
      await eventually(async () => (await sizeOf()) === before + 9);
      expect(await check()).toEqual({ status: 'ok' });
      const gone = await deleted(count);
      await harness.write(20);
      const alarm = {
        status: 'unavailable',
        detail: `the event at position ${gone} was recorded and is not in the log`,
      };
      expect(await check()).toEqual(alarm);
      await harness.end();
      const again = started();
      await harness.write(20);
      expect(await again()).toEqual(alarm);
      expect(await sizeOf()).toBe(before + 9);
      await harness.database.pool.query('insert into event_store.events select * from kept; drop table kept');
      await eventually(async () => (await sizeOf()) === before + 49);
      await eventually(async () => (await again())?.status === 'ok');
    },
  );

  it('is in order again after an operator begins another ledger', async () => {
    const check = started();
    await deleted(2);
    expect(await check()).toMatchObject({ status: 'unavailable' });
    const { database } = harness.database;
    const logId = await harness.writer.identity();
    await harness.end();
    await database.transaction(async (tx) => {
      await tx.query('truncate audit.leaves, audit.ledger');
      await tx.query('update event_store.checkpoints set position = null where name = $1', [LEDGER]);
      await beginLedger(tx, logId, harness.sealer);
    });
    const next = started();
    const { length } = await harness.writer.readAll(null, 1000);
    await eventually(async () => (await sizeOf()) === length);
    expect(await next()).toEqual({ status: 'ok' });
  });
});
