import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Credentials } from '../../../bench/support/sign.js';
import { keyed, REPORT } from './payouts.js';
import { Line } from './line.js';
import type { Acknowledged } from './report-load.js';
import type { Verdict } from './verdict.js';
import type { Receivers } from './webhooks/receivers.js';

const REPLAYS = 200;
const REPLAY_ATTEMPTS = 10;
const REPLAY_PAUSE_MS = 1000;

interface PayoutRow {
  readonly id: string;
  readonly hash: string;
  readonly status: 'pending' | 'received' | 'expired';
  readonly body: string;
}

/** Every acknowledged report has one payout with its facts, and the outcome that its transfer implies. */
export async function checkAcknowledged(
  pool: pg.Pool,
  acknowledged: readonly Acknowledged[],
  verdict: Verdict,
): Promise<void> {
  checkOutcomes(await checkReported(pool, acknowledged, verdict), acknowledged, verdict);
}

/** Every acknowledged report, and no other, is once in events and list. Returns the payouts by id. */
export async function checkReported(
  pool: pg.Pool,
  acknowledged: readonly Acknowledged[],
  verdict: Verdict,
): Promise<ReadonlyMap<string, PayoutRow>> {
  const found = await pool.query<PayoutRow>(
    `select r.data::json->>'payout_id' as id, r.data::json->>'transaction_hash' as hash, view.body,
       case t.type when 'payout.received.v2' then 'received' when 'payout.expired.v1' then 'expired' else 'pending' end as status
     from event_store.events r
     left join event_store.events t on t.stream = r.stream and t.revision = 1
     left join payouts.payouts view on view.id = (r.data::json->>'payout_id')::uuid
     where r.type like 'payout.reported.v_'`,
  );
  const payouts = new Map(found.rows.map((row) => [row.id, row]));
  verdict.expect(acknowledged.length > 0, 'some report was acknowledged');
  verdict.equal(new Set(acknowledged.map(({ id }) => id)).size, acknowledged.length, 'distinct payouts');
  verdict.equal(found.rows.length, acknowledged.length, 'payouts in the books, one per acknowledged report');
  verdict.none('an acknowledged report is not in the books', acknowledged, ({ id }) => !payouts.has(id));
  verdict.none(
    'a payout row differs from what was acknowledged',
    acknowledged,
    ({ id, response }) => !sameFacts(payouts.get(id)?.body, response),
  );
  return payouts;
}

function checkOutcomes(
  payouts: ReadonlyMap<string, PayoutRow>,
  acknowledged: readonly Acknowledged[],
  verdict: Verdict,
): void {
  const without = (backing: Acknowledged['backing'], status: PayoutRow['status']): Acknowledged[] =>
    acknowledged.filter((each) => each.backing === backing && payouts.get(each.id)?.status !== status);
  verdict.none('a payout with its own transfer was not received', without('transfer', 'received'));
  verdict.none('a payout without a transfer did not expire', without('nothing', 'expired'));
  const shared = new Map<string, string[]>();
  for (const each of acknowledged) {
    const payout = payouts.get(each.id);
    if (each.backing !== 'shared' || payout === undefined) continue;
    shared.set(payout.hash, [...(shared.get(payout.hash) ?? []), payout.status]);
  }
  verdict.none(
    'of two payouts naming one transfer not exactly one was received',
    shared,
    ([, statuses]) => statuses.sort().join() !== 'expired,received',
  );
}

/** Compares a payout with its acknowledgement, without status and reason. */
function sameFacts(body: string | undefined, response: string): boolean {
  if (body === undefined) return false;
  const facts = (text: string): string => {
    const parsed = JSON.parse(text) as { payout?: object };
    return JSON.stringify({ ...(parsed.payout ?? parsed), status: null, reason: null });
  };
  return facts(body) === facts(response);
}

/** Each key still returns the acknowledged bytes. */
export async function checkReplays(
  { merchant, port }: { readonly merchant: Credentials; readonly port: number },
  acknowledged: readonly Acknowledged[],
  verdict: Verdict,
): Promise<void> {
  const chosen = [...acknowledged].sort((a, b) => b.attempts - a.attempts).slice(0, REPLAYS);
  const line = new Line(port, verdict);
  for (const { key, request, response, attempts } of chosen) {
    const repeat = (): ReturnType<Line['exchange']> =>
      line.exchange(keyed(merchant, REPORT.path, request, key));
    let outcome = await repeat();
    for (let n = 1; outcome.kind === 'responded' && outcome.status === 503 && n < REPLAY_ATTEMPTS; n += 1) {
      await sleep(REPLAY_PAUSE_MS);
      outcome = await repeat();
    }
    const same =
      outcome.kind === 'responded' &&
      outcome.status === 201 &&
      outcome.body === response &&
      outcome.headers['idempotent-replayed'] === 'true';
    verdict.expect(
      same,
      `a repeat under a key acknowledged after ${attempts} tries replays the first 201`,
      outcome,
    );
    if (outcome.kind !== 'responded') break;
  }
  line.close();
}

const OUTCOMES = {
  'payout.received.v2': 'payout.received',
  'payout.expired.v1': 'payout.failed',
} as const;

/** Returns `<type> <payout id>` of every outcome in the log, as webhooks name them. */
async function outcomes(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ type: keyof typeof OUTCOMES; id: string }>(
    `select type, data::json->>'payout_id' as id from event_store.events where type = any($1::text[])`,
    [Object.keys(OUTCOMES)],
  );
  return rows.map(({ type, id }) => `${OUTCOMES[type]} ${id}`);
}

/** Returns `<type> <payout id>` of every webhook of an outcome, once per webhook-id. */
export const notified = (receiver: Receivers): readonly string[] =>
  Object.values(OUTCOMES).flatMap((type) =>
    receiver.subjects(type, 'payout_id').map((id) => `${type} ${id}`),
  );

/** Counts payouts without an outcome, outcomes that did not arrive, and pending deliveries. */
export async function undelivered(pool: pg.Pool, receiver: Receivers): Promise<number> {
  const { rows } = await pool.query<{ left: number }>(
    `select ((select count(*) from payouts.payouts where status = 0)
       + (select count(*) from webhooks.deliveries where state = 'pending'))::int as left`,
  );
  const arrived = new Set(notified(receiver));
  return rows[0]!.left + (await outcomes(pool)).filter((each) => !arrived.has(each)).length;
}

/**
 * The receiver got every outcome and nothing else, except about `changing` payouts. Two of them that name one
 * transfer may exchange their outcomes by a restore.
 */
export async function checkWebhooks(
  pool: pg.Pool,
  receiver: Receivers,
  verdict: Verdict,
  changing: ReadonlySet<string> = new Set(),
): Promise<void> {
  const arrived = new Set(notified(receiver));
  const happened = new Set(await outcomes(pool));
  verdict.none('a delivery did not verify', receiver.faults);
  verdict.none('an outcome never arrived', happened, (each) => !arrived.has(each));
  verdict.none(
    'an outcome arrived that the payout does not have',
    arrived,
    (each) => !happened.has(each) && !changing.has(each.split(' ')[1]!),
  );
}
