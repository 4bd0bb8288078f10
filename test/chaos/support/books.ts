import type pg from 'pg';
import { invoke } from '../../support/programs/cli.js';
import type { Shared } from './shared.js';
import type { Verdict } from './verdict.js';

/** The gaps of a verify with a database alone: pinned keys, a signed head over the newest events. */
const UNPROVEN =
  /^UNCHECKED (the keys of the ledger are not pinned|no signed head covers any event|whether each personal key)/;

/** Runs `audit -- verify` once every subscription has all events. Returns its last line. */
export async function checkBooks({ pool, databaseUrl }: Shared, verdict: Verdict): Promise<string> {
  const head = await headOf(pool);
  await verdict.eventually('every read model has all events', () => haveReached(pool, head), 60_000);
  return checkAudit({ DATABASE_URL: databaseUrl }, verdict);
}

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

export async function headOf(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ head: string }>('select max(position) as head from event_store.events');
  return rows[0]!.head;
}

/** Returns whether every subscription has passed the position. */
export async function haveReached(pool: pg.Pool, position: string): Promise<boolean> {
  const { rows } = await pool.query(
    'select from event_store.checkpoints where position is null or position::bigint < $1 limit 1',
    [position],
  );
  return rows.length === 0;
}

/** Returns whether every event is under a signed head. */
export async function areCovered(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ covered: boolean }>(
    'select max(size) = (select count(*) from event_store.events) as covered from audit.heads',
  );
  return rows[0]!.covered;
}
