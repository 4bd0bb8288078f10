import { beforeEach, describe, expect, it } from '@jest/globals';
import { expectOrderedLocks } from '../../../../test/support/database/lock-order.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { insertDeliveries } from '../../../../test/support/webhooks/webhook-rows.js';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../platform/postgres/database.js';
import {
  DeliveryTable,
  type AttemptRecord,
  type DeliveryClaim,
  type DeliveryResult,
} from './deliveries.store.js';

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

const ERRORS = ['', 'null', 'a "b" \\c\\', '{1,2}', ' , ', "it's\nnot\tso", 'é😀', '\\x00'];

const REFUSED: AttemptRecord = {
  started_at: new Date('2026-02-03T04:05:06.789Z'),
  duration_ms: 30_001,
  outcome: 'retry',
  http_status: 503,
  failure_phase: null,
  error: null,
  response_excerpt: null,
};

/** The result of a first attempt after which another one is due at once. */
const resultOf = ({ delivery_id, endpoint_id }: DeliveryClaim): DeliveryResult => ({
  delivery_id,
  endpoint_id,
  state: 'pending',
  attempts: 1,
  delay_ms: 0,
  attempt: REFUSED,
});

describe('deliveries that a sender has claimed', () => {
  const db = onTestDatabase();
  let endpointId: string;

  beforeEach(async () => {
    endpointId = newId();
    await db.pool.query('truncate webhooks.deliveries, webhooks.senders');
  });

  const due = (count: number, endpoint = endpointId) => insertDeliveries(db.database, endpoint, count);
  const free = async (): Promise<number> =>
    (await db.pool.query('select from webhooks.deliveries where leased_by is null')).rowCount!;

  /** `recorded` runs after each statement that records attempts, before its response. */
  const tableWith = (recorded: () => Promise<void>): DeliveryTable => {
    const query = async (sql: string, params: readonly unknown[]) => {
      const rows = await db.database.query(sql, params);
      if (sql.includes('insert into webhooks.attempts')) await recorded();
      return rows;
    };
    return new DeliveryTable({ query } as unknown as Database);
  };

  it('cannot be claimed by another process, even if the sender had never claimed before', async () => {
    await due(5);
    const [one, other] = [new DeliveryTable(db.database), new DeliveryTable(db.database)];
    expect(await one.claim(endpointId, 3)).toHaveLength(3);
    await other.heartbeat();
    expect(await free()).toBe(2);
    expect(await other.claim(endpointId, 10)).toHaveLength(2);
  });

  it('are released by another process if the last heartbeat of the sender is 11 s old', async () => {
    await due(3);
    const [one, other] = [new DeliveryTable(db.database), new DeliveryTable(db.database)];
    expect(one.hasValidLeases()).toBe(false);
    await one.claim(endpointId, 10);
    expect(one.hasValidLeases()).toBe(true);
    await db.pool.query(`update webhooks.senders set seen_at = seen_at - interval '11 s'`);
    await other.heartbeat();
    expect(await free()).toBe(3);
  });

  it('are freed by their sender only while no other process has claimed them', async () => {
    await due(3);
    const [one, other] = [new DeliveryTable(db.database), new DeliveryTable(db.database)];
    const claimed = await one.claim(endpointId, 10);
    await one.release(claimed.slice(0, 2));
    expect(await free()).toBe(2);
    await other.claim(endpointId, 10);
    await one.release(claimed);
    expect(await free()).toBe(1);
  });

  it('are recorded together, each with its own outcome', async () => {
    await due(ERRORS.length + 2);
    const table = new DeliveryTable(db.database);
    const [success, dropped, ...failures] = await table.claim(endpointId, 100);
    const excerpt = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const failed = (error: string): AttemptRecord => ({
      ...REFUSED,
      http_status: null,
      failure_phase: 'response',
      error,
    });
    const succeeded = {
      ...REFUSED,
      outcome: 'succeeded',
      http_status: 204,
      response_excerpt: excerpt,
    } as const;
    await Promise.all([
      table.record({ ...resultOf(success!), state: 'succeeded', attempt: succeeded }),
      table.record({ ...resultOf(dropped!), state: 'dropped', attempts: 0, attempt: null }),
      ...failures.map((each, n) =>
        table.record({ ...resultOf(each), delay_ms: 60_000.5, attempt: failed(ERRORS[n]!) }),
      ),
    ]);
    // The record says whether endpoints have changed.
    const { rows } = await db.pool.query<Record<string, unknown>>(
      `select delivery_id, state, attempts, leased_by, due_at > now() + interval '50 s' as later, attempt, started_at,
         duration_ms, outcome, http_status, failure_phase, error, response_excerpt
       from webhooks.deliveries left join webhooks.attempts using (delivery_id, endpoint_id) where endpoint_id = $1`,
      [endpointId],
    );
    const row = (id: string) => rows.find((each) => each['delivery_id'] === id);
    expect(row(success!.delivery_id)).toMatchObject({
      ...succeeded,
      state: 'succeeded',
      attempts: 1,
      leased_by: null,
      attempt: 1,
    });
    expect(row(dropped!.delivery_id)).toMatchObject({ state: 'dropped', attempts: 0, attempt: null });
    failures.forEach((each, n) => {
      const error = ERRORS[n]!;
      expect(row(each.delivery_id)).toMatchObject({ ...failed(error), state: 'pending', later: true });
    });
  });

  it('are recorded and released in the order of their ids, as resends and recoveries lock them', async () => {
    await due(300);
    const table = new DeliveryTable(db.database);
    const claimed = await table.claim(endpointId, 300);
    const ids = claimed.map((each) => each.delivery_id).sort();
    await expectOrderedLocks(db, ids, () =>
      Promise.all(
        claimed
          .toSorted((a, b) => (a.delivery_id < b.delivery_id ? 1 : -1))
          .map((each) => table.record({ ...resultOf(each), state: 'dropped', attempts: 0, attempt: null })),
      ),
    );
    const back = await due(20).then(() => table.claim(endpointId, 20));
    const backIds = back.map((each) => each.delivery_id).sort();
    await expectOrderedLocks(db, backIds, () => table.release(back));
  });

  it('keep both attempts if the former sender and then the present sender record a success', async () => {
    await due(1);
    const [one, two] = [new DeliveryTable(db.database), new DeliveryTable(db.database)];
    const [claimed] = await one.claim(endpointId, 10);
    await db.pool.query('truncate webhooks.senders');
    await two.heartbeat();
    const [reclaimed] = await two.claim(endpointId, 10);
    await two.record(resultOf(reclaimed!));
    expect(await two.claim(endpointId, 10)).toMatchObject([{ attempts: 1 }]);
    const succeeded = (attempts: number): DeliveryResult => ({
      ...resultOf(claimed!),
      state: 'succeeded',
      attempts,
      attempt: { ...REFUSED, outcome: 'succeeded', http_status: 204 },
    });
    await one.record(succeeded(1));
    await two.record(succeeded(2));
    const { rows } = await db.pool.query(
      `select state, attempts, leased_by, (select array_agg(outcome order by attempt) from webhooks.attempts a
         where a.delivery_id = d.delivery_id) as outcomes from webhooks.deliveries d`,
    );
    const outcomes = ['succeeded', 'succeeded'];
    expect(rows).toEqual([{ state: 'succeeded', attempts: 2, leased_by: null, outcomes }]);
  });

  it('cannot be claimed again if recording them failed, until a second recording succeeds', async () => {
    await due(1);
    let lost = false;
    const table = tableWith(async () => {
      if (lost) return;
      lost = true;
      throw new Error('unavailable');
    });
    const [claimed] = await table.claim(endpointId, 10);
    const { delivery_id } = claimed!;
    const result = resultOf(claimed!);
    await expect(table.record(result)).rejects.toThrow('unavailable');
    expect(await table.claim(endpointId, 10)).toEqual([]);
    await table.record(result);
    expect(await table.claim(endpointId, 10)).toMatchObject([{ delivery_id, attempts: 1 }]);
  });

  it('are released by a heartbeat if they were claimed again before the record was confirmed', async () => {
    await due(1);
    const response = withResolvers();
    const recorded = withResolvers();
    const table = tableWith(() => {
      recorded.resolve();
      return response.promise;
    });
    const [claimed] = await table.claim(endpointId, 10);
    const { delivery_id } = claimed!;
    const record = table.record(resultOf(claimed!));
    await recorded.promise;
    expect(await table.claim(endpointId, 10)).toEqual([]);
    response.resolve();
    await record;
    await table.heartbeat();
    expect(await table.claim(endpointId, 10)).toMatchObject([{ delivery_id, attempts: 1 }]);
  });

  it('are selected by an index, without reading other due deliveries', async () => {
    const small = newId();
    await due(20_000);
    await due(5, small);
    await db.pool.query('analyze webhooks.deliveries');
    const statements: { readonly sql: string; readonly params: readonly unknown[] }[] = [];
    const recording = {
      query: (sql: string, params: readonly unknown[]) => {
        statements.push({ sql, params });
        return db.database.query(sql, params);
      },
    } as unknown as Database;
    const table = new DeliveryTable(recording);
    expect(await table.claim(endpointId, 100)).toHaveLength(100);
    expect(await table.claim(small, 100)).toHaveLength(5);
    for (const { sql, params } of statements.filter((each) => each.sql.includes('skip locked'))) {
      const rows = await db.database.query(`explain (analyze, timing off, summary off) ${sql}`, params);
      const plan = rows.map((row) => Object.values(row)[0]).join('\n');
      expect(plan).not.toMatch(/Seq Scan|Sort|Rows Removed by Filter: [0-9]{3,}/);
      expect(plan).toContain('using deliveries_due');
    }
  });
});
