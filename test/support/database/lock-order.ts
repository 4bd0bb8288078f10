import { equal } from 'node:assert/strict';
import { eventually } from '../eventually.js';
import type { TestDatabase } from '../postgres.js';

/** Locks the first of the sorted `ids` while `work` locks all, and expects `work` to wait without a lock. */
export async function expectOrderedLocks(
  { pool }: TestDatabase,
  ids: readonly string[],
  work: () => Promise<unknown>,
): Promise<void> {
  const holder = await pool.connect();
  let working: Promise<unknown> | undefined;
  try {
    await holder.query('begin');
    await holder.query('select from webhooks.deliveries where delivery_id = $1 for update', [ids[0]]);
    working = work();
    await eventually(() => waits(pool));
    const free = await pool.query(
      'select from webhooks.deliveries where delivery_id = any($1::uuid[]) for update skip locked',
      [ids],
    );
    equal(free.rowCount, ids.length - 1);
  } finally {
    await holder.query('rollback');
    holder.release();
    await working;
  }
}

async function waits(pool: TestDatabase['pool']): Promise<boolean> {
  const waiting = await pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return waiting.rowCount !== 0;
}
