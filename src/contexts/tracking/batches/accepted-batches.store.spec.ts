import { expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { sha256 } from '../../../kernel/sha256.js';
import { AcceptedBatches, type NewBatch } from './accepted-batches.store.js';

const db = onTestDatabase();
const AT = new Date('2026-03-01T12:00:00.123Z');
const clock = { now: (): Date => AT };

function batchOf(bytes: number): NewBatch {
  return { merchant_id: randomUUID(), batch_id: randomUUID(), item_count: bytes, body: randomBytes(bytes) };
}

it('concurrent batches share few statements and are stored unchanged, each once', async () => {
  const statements: number[] = [];
  const query = db.database.query.bind(db.database);
  const counting = Object.assign(Object.create(db.database) as typeof db.database, {
    query: (sql: string, values: unknown[]) => {
      statements.push(values.length / 5);
      return query(sql, values);
    },
  });
  const accepted = new AcceptedBatches(counting, clock);
  const [small, large] = [
    Array.from({ length: 40 }, () => batchOf(100)),
    Array.from({ length: 9 }, () => batchOf(1 << 20)),
  ];
  // A request may be repeated while the first one is in progress.
  const all = [small[0]!, ...small, ...large, ...small.slice(0, 5)];
  await Promise.all(all.map((each) => accepted.insert(each)));

  const rows = await query<{ [column: string]: unknown; readonly body: Buffer }>(
    'select batch_id, merchant_id, item_count, received_at, body from tracking.batches',
  );
  const rowOf = (batch: NewBatch): object => ({ ...batch, received_at: AT, body: sha256(batch.body) });
  const stored = new Map(rows.map((row) => [row['batch_id'], { ...row, body: sha256(row.body) }]));
  expect(stored).toEqual(new Map([...small, ...large].map((each) => [each.batch_id, rowOf(each)])));
  expect(statements.reduce((sum, rows) => sum + rows, 0)).toBe(all.length);
  // Four large bodies are as many bytes as one statement has.
  expect(statements.length).toBeGreaterThanOrEqual(3);
  expect(statements.length).toBeLessThan(8);
});

it('a failed statement stores none of its batches and rejects all of their inserts', async () => {
  const accepted = new AcceptedBatches(db.database, clock);
  const [good, bad] = [batchOf(10), { ...batchOf(10), item_count: 2 ** 40 }];
  const results = await Promise.allSettled([bad, good].map((each) => accepted.insert(each)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const rows = await db.database.query('select from tracking.batches where batch_id = any($1::uuid[])', [
    [good, bad].map(({ batch_id }) => batch_id),
  ]);
  expect(rows).toEqual([]);
});

it('two processes that store the same batches in opposite orders do not deadlock', async () => {
  const processes = [1, 2].map(() => new AcceptedBatches(db.database, clock));
  for (let round = 0; round < 20; round += 1) {
    const batches = Array.from({ length: 200 }, () => batchOf(10));
    const orders = [batches, batches.toReversed()];
    await Promise.all(
      processes.flatMap((accepted, place) => orders[place]!.map((each) => accepted.insert(each))),
    );
  }
});
