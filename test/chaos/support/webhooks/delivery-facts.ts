import type pg from 'pg';
import type { Verdict } from '../verdict.js';
import type { Expected } from './expected.js';
import type { Receivers } from './receivers.js';

interface Row {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly state: string;
  readonly attempts: number;
  readonly leased: boolean;
  /** The outcomes of the recorded attempts, in order. */
  readonly outcomes: readonly string[];
  /** Recorded attempts whose request certainly reached the receiver. */
  readonly sent: number;
  /** Recorded attempts whose request may have reached it, including timeouts. */
  readonly maybeSent: number;
}

export async function settled(pool: pg.Pool, expected: number): Promise<boolean> {
  const { rows } = await pool.query<{ created: number; pending: number }>(
    `select count(*)::int as created, count(*) filter (where state = 'pending')::int as pending
     from webhooks.deliveries`,
  );
  return rows[0]!.created >= expected && rows[0]!.pending === 0;
}

/** Every delivery arrived, unchanged and at the right endpoint, and no other did. */
export function checkArrived(
  { arrived, faults }: Receivers,
  expected: ReadonlyMap<string, Expected>,
  verdict: Verdict,
): void {
  const all = [...expected];
  verdict.none('a request that no delivery explains', faults);
  verdict.none('an emitted id never came', all, ([id]) => !arrived.has(id));
  verdict.none('a delivery was never accepted', all, ([id]) => arrived.get(id)?.accepted === 0);
  verdict.none('an id came that no event emitted', arrived.keys(), (id) => !expected.has(id));
  verdict.none(
    'a delivery went to a wrong endpoint',
    all,
    ([id, { hook }]) => arrived.has(id) && arrived.get(id)!.place !== hook.place,
  );
  verdict.none(
    'a body is not the envelope of its event',
    all,
    ([id, { bodyHash }]) => arrived.has(id) && arrived.get(id)!.bodyHash !== bodyHash,
  );
}

/** The table agrees with events and receivers. Returns the number of requests without a recorded attempt. */
export async function checkTable(
  pool: pg.Pool,
  { arrived }: Receivers,
  expected: ReadonlyMap<string, Expected>,
  verdict: Verdict,
): Promise<{ readonly attempts: number; readonly requests: number; readonly unrecorded: number }> {
  const rows = await rowsOf(pool);
  const requestsOf = (id: string): number => arrived.get(id)?.at.length ?? 0;
  verdict.equal(rows.length, expected.size, 'one row per emitted id');
  verdict.none(
    'a row belongs to no emitted id, or to another endpoint',
    rows,
    (row) => expected.get(row.delivery_id)?.hook.endpointId !== row.endpoint_id,
  );
  verdict.none(
    'a delivery is stuck: pending, leased, exhausted or dropped',
    rows,
    ({ state, leased }) => state !== 'succeeded' || leased,
  );
  verdict.none(
    'attempts are missing, or the last one did not succeed',
    rows,
    ({ attempts, outcomes }) => attempts !== outcomes.length || outcomes.at(-1) !== 'succeeded',
  );
  // A process stopped beyond its lease may succeed while another one sends. Both are recorded.
  const mayPrecede = ['retry', 'succeeded'];
  verdict.none('an attempt before the last was not one to be tried again', rows, ({ outcomes }) =>
    outcomes.slice(0, -1).some((outcome) => !mayPrecede.includes(outcome)),
  );
  const twice = rows.filter(({ outcomes }) => outcomes.filter((each) => each === 'succeeded').length > 1);
  verdict.expect(
    twice.length <= rows.length / 1000,
    'hardly any delivery succeeded twice',
    String(twice.length),
  );
  verdict.none(
    'an attempt is recorded that the receiver never saw',
    rows,
    ({ delivery_id, sent }) => sent > requestsOf(delivery_id),
  );
  const attempts = rows.reduce((sum, row) => sum + row.attempts, 0);
  const requests = rows.reduce((sum, row) => sum + requestsOf(row.delivery_id), 0);
  const unrecorded = rows.reduce(
    (sum, { delivery_id, maybeSent }) => sum + Math.max(0, requestsOf(delivery_id) - maybeSent),
    0,
  );
  return { attempts, requests, unrecorded };
}

export async function checkCheckpoint(pool: pg.Pool, verdict: Verdict): Promise<void> {
  verdict.expect(await atTheEnd(pool), "the saga's checkpoint is at the end of the events");
}

export async function atTheEnd(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ done: boolean }>(
    `select position = (select max(position)::text from event_store.events) as done
     from event_store.checkpoints where name = 'webhooks.deliveries'`,
  );
  return rows[0]?.done === true;
}

async function rowsOf(pool: pg.Pool): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    `select d.delivery_id, d.endpoint_id, d.state, d.attempts, d.leased_by is not null as leased,
       coalesce(a.outcomes, '{}') as outcomes, coalesce(a.sent, 0) as sent, coalesce(a.maybe_sent, 0) as "maybeSent"
     from webhooks.deliveries d left join (
       select delivery_id, array_agg(outcome order by attempt) as outcomes,
         count(*) filter (where http_status is not null or failure_phase in ('send', 'response'))::int as sent,
         count(*) filter (where http_status is not null or failure_phase in ('send', 'response', 'timeout'))::int as maybe_sent
       from webhooks.attempts group by delivery_id
     ) a using (delivery_id)`,
  );
  return rows;
}
