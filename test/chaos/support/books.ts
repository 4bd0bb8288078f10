import type pg from 'pg';
import { invoke } from '../../support/programs/cli.js';
import type { Shared } from './shared.js';
import type { Verdict } from './verdict.js';

/** What a verify of a database alone cannot know: whose keys those are, and what no head covers yet. */
const UNPROVEN =
  /^UNCHECKED (the keys of the ledger are not pinned|no signed head covers any event|whether each personal key)/;

/**
 * `npm run audit -- verify`, once every subscription has all events: each history by its own rules, the money books from
 * the events alone, and every row of the read models against a replay. The last line that it printed.
 */
export async function checkBooks({ pool, databaseUrl }: Shared, verdict: Verdict): Promise<string> {
  const head = await headOf(pool);
  await verdict.eventually('every read model has all events', () => haveReached(pool, head), 60_000);
  return checkAudit({ DATABASE_URL: databaseUrl }, verdict);
}

/** `npm run audit -- verify` with these settings; the last line that it printed. */
export async function checkAudit(env: Readonly<Record<string, string>>, verdict: Verdict): Promise<string> {
  const { printed, exitCode } = await invoke('audit', env, 'verify');
  const unchecked = printed.split('\n').filter((line) => line.startsWith('UNCHECKED'));
  const isInOrder = exitCode === null || (exitCode === 1 && unchecked.length > 0);
  verdict.expect(
    isInOrder && unchecked.every((line) => UNPROVEN.test(line)),
    `npm run audit -- verify\n${printed}`,
  );
  return printed.trim().split('\n').at(-1) ?? '';
}

/** How many events of a type a merchant has. */
export async function countEvents(pool: pg.Pool, type: string, merchantId: string): Promise<number> {
  const found = await pool.query<{ count: number }>(
    `select count(*)::int as count from event_store.events where type = $1 and data::json->>'merchant_id' = $2`,
    [type, merchantId],
  );
  return found.rows[0]!.count;
}

/** The position of the last event. */
export async function headOf(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ head: string }>('select max(position) as head from event_store.events');
  return rows[0]!.head;
}

/** Whether every subscription has passed that position. */
export async function haveReached(pool: pg.Pool, position: string): Promise<boolean> {
  const { rows } = await pool.query(
    'select from event_store.checkpoints where position is null or position::bigint < $1 limit 1',
    [position],
  );
  return rows.length === 0;
}

/** Whether every event is under a signed head. */
export async function areCovered(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ covered: boolean }>(
    'select max(size) = (select count(*) from event_store.events) as covered from audit.heads',
  );
  return rows[0]!.covered;
}
