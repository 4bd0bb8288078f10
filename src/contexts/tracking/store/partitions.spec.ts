import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WAIT_MS } from '../../../../test/support/eventually.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { stalledAt } from '../../../../test/support/tracking/stalled-at.js';
import { DAYS, MONTHS, Partitions } from './partitions.js';

const CONFIG = { roles: ['worker'], trackingRawDays: 14, trackingRetentionMonths: 25 } as const;
const DAY_MS = 86_400_000;

describe('periods', () => {
  it.each([
    [DAYS, '2026-03-29T23:59:59.999Z', 0, '20260329', '2026-03-29', '2026-03-30'],
    [DAYS, '2026-12-31T00:00:00.000Z', 1, '20270101', '2027-01-01', '2027-01-02'],
    [DAYS, '2024-03-01T12:00:00.000Z', -1, '20240229', '2024-02-29', '2024-03-01'],
    [MONTHS, '2026-01-31T23:59:59.999Z', 1, '202602', '2026-02-01', '2026-03-01'],
    [MONTHS, '2026-12-01T00:00:00.000Z', 0, '202612', '2026-12-01', '2027-01-01'],
    [MONTHS, '2026-02-28T00:00:00.000Z', -25, '202401', '2024-01-01', '2024-02-01'],
  ])('are whole in UTC', (periods, instant, offset, name, from, to) => {
    expect(periods.at(new Date(instant), offset)).toEqual({ name, from: new Date(from), to: new Date(to) });
  });
});

describe('partitions', () => {
  let db: TestDatabase;
  let now: Date;
  const keeper = (): Partitions => new Partitions(db.database, { now: () => now }, CONFIG);
  const partitions = async (): Promise<string[]> => {
    const { rows } = await db.pool.query<{ name: string }>(
      `select relname as name from pg_inherits join pg_class on oid = inhrelid
       where inhparent in ('tracking.batches'::regclass, 'tracking.events'::regclass) order by 1`,
    );
    return rows.map(({ name }) => name);
  };
  const batch = (receivedAt: Date, state: string) =>
    db.pool.query(
      `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body, state)
       values (gen_random_uuid(), gen_random_uuid(), $1, 1, '{}', $2)`,
      [receivedAt, state],
    );
  const event = (receivedAt: Date) =>
    db.pool.query(
      `insert into tracking.events
         (merchant_id, event_id, received_at, user_external_id, event_name, event_datetime, payload)
       values (gen_random_uuid(), gen_random_uuid(), $1, 'u', 'e', now(), '{}')`,
      [receivedAt],
    );

  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.drop());
  beforeEach(async () => {
    now = new Date();
    for (const name of await partitions()) await db.pool.query(`drop table tracking.${name}`);
  });

  it('are there for yesterday, today and a week, for the last month, this one and the next two', async () => {
    await keeper().ensure();
    const days = Array.from({ length: 9 }, (_, index) => `batches_${DAYS.at(now, index - 1).name}`);
    const months = Array.from({ length: 4 }, (_, index) => `events_${MONTHS.at(now, index - 1).name}`);
    expect(await partitions()).toEqual([...days, ...months]);
    await keeper().ensure();
    expect(await partitions()).toHaveLength(13);
  });

  it('are created once by processes that start together', async () => {
    await Promise.all(Array.from({ length: 6 }, () => keeper().ensure()));
    expect(await partitions()).toHaveLength(13);
  });

  it('follow the clock of the process as well as that of the database', async () => {
    now = new Date(now.getTime() + 400 * DAY_MS);
    await keeper().ensure();
    await batch(now, 'accepted');
    await event(now);
    await batch(new Date(), 'accepted');
    await event(new Date());
    await keeper().drop();
    expect(await partitions()).toHaveLength(26);
  });

  it('are created when a row finds none, as after months in which no process ran', async () => {
    const received = new Date(now.getTime() - 100 * DAY_MS);
    await expect(batch(received, 'accepted')).rejects.toThrow('no partition');
    await keeper().having(() => batch(received, 'accepted'), [received]);
    await keeper().having(() => event(received), [received]);
    await keeper().having(() => batch(new Date(), 'accepted'));
    await expect(keeper().having(() => Promise.reject(new Error('other')))).rejects.toThrow('other');
  });

  it('delay no statement while they are created', async () => {
    await keeper().ensure();
    const writer = await db.pool.connect();
    try {
      await writer.query('begin; lock table tracking.batches, tracking.events in row exclusive mode');
      await keeper().ensure([new Date(now.getTime() - 200 * DAY_MS)]);
      expect(await partitions()).toHaveLength(15);
    } finally {
      await writer.query('rollback');
      writer.release();
    }
  });

  it('of batches go after their days, unless a batch in them is not finished', async () => {
    const days = [15, 16, 17, 18].map((ago) => new Date(now.getTime() - ago * DAY_MS));
    const kept = new Date(now.getTime() - 14 * DAY_MS);
    await keeper().ensure([...days, kept]);
    const states = ['accepted', 'processed', 'forwarded', 'failed'];
    for (const [index, day] of days.entries()) await batch(day, states[index]!);
    await Promise.all([keeper().drop(), keeper().drop()]);
    const left = await partitions();
    const there = [...days, kept].map((day) => left.includes(`batches_${DAYS.at(day, 0).name}`));
    expect(there).toEqual([true, true, false, false, true]);
  });

  it('of events go after their months, and with them what is known of their ids', async () => {
    const [old, kept] = [MONTHS.at(now, -26).from, MONTHS.at(now, -25).from];
    await keeper().ensure([old, kept]);
    await event(old);
    await event(kept);
    await db.pool.query(
      `insert into tracking.event_ids select gen_random_uuid(), gen_random_uuid(), $1 from generate_series(1, 5001);`,
      [old],
    );
    for (const at of [old, kept]) {
      await db.pool.query(
        'insert into tracking.event_ids values (gen_random_uuid(), gen_random_uuid(), $1)',
        [at],
      );
      await db.pool.query(
        `insert into tracking.refused_events values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '', $1)`,
        [at],
      );
    }
    await keeper().drop(AbortSignal.abort());
    const ids = await db.pool.query('select from tracking.event_ids');
    expect(ids.rowCount).toBe(5003);
    await keeper().drop();
    for (const [table, column] of [
      ['event_ids', 'received_at'],
      ['refused_events', 'refused_at'],
    ] as const) {
      const { rows } = await db.pool.query(`select ${column} as at from tracking.${table}`);
      expect(rows).toEqual([{ at: kept }]);
    }
    const left = (await partitions()).filter((name) => name.startsWith('events_'));
    expect(left).toHaveLength(5);
    expect(left[0]).toBe(`events_${MONTHS.at(kept, 0).name}`);
  });

  it('delay no statement for long when the process that drops one is stalled', async () => {
    const old = new Date(now.getTime() - 20 * DAY_MS);
    await keeper().ensure([old]);
    let wake = (): void => undefined;
    const awake = new Promise<void>((resolve) => (wake = resolve));
    let locked = (): void => undefined;
    const lockHad = new Promise<void>((resolve) => (locked = resolve));
    const stalled = stalledAt('drop table', db.database, async () => {
      locked();
      await awake;
    });
    const dropping = new Partitions(stalled, { now: () => now }, CONFIG).drop();
    dropping.catch(() => undefined);
    await lockHad;
    const held = await Promise.race([
      batch(new Date(), 'accepted').then(() => false),
      sleep(WAIT_MS, true, { ref: false }),
    ]);
    wake();
    expect(held).toBe(false);
    await expect(dropping).rejects.toThrow();
    await keeper().drop();
    expect((await partitions()).includes(`batches_${DAYS.at(old, 0).name}`)).toBe(false);
  });

  it('that somebody reads are not waited for while others queue, and go another time', async () => {
    const old = new Date(now.getTime() - 20 * DAY_MS);
    await keeper().ensure([old]);
    const reader = await db.pool.connect();
    await reader.query('begin');
    await reader.query('select count(*) from tracking.batches');
    const dropping = keeper().drop();
    await batch(new Date(), 'accepted');
    await reader.query('commit');
    reader.release();
    await dropping;
    expect((await partitions()).includes(`batches_${DAYS.at(old, 0).name}`)).toBe(false);
  });
});
