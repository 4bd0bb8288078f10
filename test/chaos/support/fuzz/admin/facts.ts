import type pg from 'pg';
import type { Verdict } from '../../verdict.js';
import type { Oracle } from './oracle.js';
import { REASON } from './merchants.js';

/** The events of an operation whose request was refused. */
const OF_REFUSAL = ['operation.requested.v1', 'operation.failed.v1', 'operation.lapsed.v1'];
const DECISIONS = ['operation.rejected.v1', 'operation.withdrawn.v1', 'operation.confirmed.v1'];

/**
 * No refused request changed anything: every operation, decision and change from the portal that had an effect was
 * acknowledged. `unknown` requests had no response.
 */
export async function checkRefusals(
  pool: pg.Pool,
  since: string,
  oracle: Oracle,
  verdict: Verdict,
  unknown: number,
): Promise<{ readonly operations: number; readonly executed: number }> {
  const { rows } = await pool.query<{ id: string; types: string[] }>(
    `select substr(stream, 11) as id, array_agg(type order by revision) as types from event_store.events
     where stream like 'operation-%' and position > $1
     group by 1 having not bool_or(type = 'operation.requested.v1' and data::json->>'reason' = $2)`,
    [since, REASON],
  );
  const all = rows.filter(({ types }) => types[0] === 'operation.requested.v1');
  const changed = all.filter(
    ({ types }) => types.some((type) => !OF_REFUSAL.includes(type)) || types.length === 1,
  );
  const unannounced = changed.filter(({ id }) => !oracle.acknowledged.has(id));
  verdict.expect(
    unannounced.length <= unknown,
    'no refused request leaves an operation',
    unannounced.slice(0, 3),
  );
  const decided = all.filter(
    ({ types }) =>
      types.some((type) => DECISIONS.includes(type)) ||
      (types.includes('operation.approved.v1') && types.includes('operation.executed.v1')),
  );
  const undecided = decided.filter(({ id }) => !oracle.decided.has(id));
  verdict.expect(undecided.length <= unknown, 'no refused request decides', undecided.slice(0, 3));
  const { rows: portal } = await pool.query<{ request: string; type: string }>(
    `select metadata::json->>'request_id' as request, type from event_store.events
     where position > $1 and metadata::json->>'portal_session_id' is not null`,
    [since],
  );
  const refused = portal.filter(({ request }) => !oracle.written.has(request));
  verdict.expect(refused.length <= unknown, 'no refused request of the portal writes', refused.slice(0, 3));
  return {
    operations: all.length,
    executed: all.filter(({ types }) => types.includes('operation.executed.v1')).length,
  };
}
