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

/** Every acknowledged report has its own payout with the same facts and the outcome that follows from its transfer. */
export async function checkAcknowledged(
  pool: pg.Pool,
  acknowledged: readonly Acknowledged[],
  verdict: Verdict,
): Promise<void> {
  checkOutcomes(await checkReported(pool, acknowledged, verdict), acknowledged, verdict);
}

/**
 * Every acknowledged report is in the events and in the list once, with the acknowledged facts; no other report is.
 * Returns the payouts by id.
 */
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
  verdict.equal(
    new Set(acknowledged.map(({ payoutId }) => payoutId)).size,
    acknowledged.length,
    'distinct payouts',
  );
  verdict.equal(found.rows.length, acknowledged.length, 'payouts in the books, one per acknowledged report');
  verdict.none(
    acknowledged.filter(({ payoutId }) => !payouts.has(payoutId)),
    'an acknowledged report is not in the books',
  );
  verdict.none(
    acknowledged.filter(({ payoutId, response }) => !sameFacts(payouts.get(payoutId)?.body, response)),
    'a payout row differs from what was acknowledged',
  );
  return payouts;
}

function checkOutcomes(
  payouts: ReadonlyMap<string, PayoutRow>,
  acknowledged: readonly Acknowledged[],
  verdict: Verdict,
): void {
  const without = (backing: Acknowledged['backing'], status: PayoutRow['status']): Acknowledged[] =>
    acknowledged.filter((each) => each.backing === backing && payouts.get(each.payoutId)?.status !== status);
  verdict.none(without('transfer', 'received'), 'a payout with its own transfer was not received');
  verdict.none(without('nothing', 'expired'), 'a payout without a transfer did not expire');
  const shared = new Map<string, string[]>();
  for (const each of acknowledged) {
    const payout = payouts.get(each.payoutId);
    if (each.backing !== 'shared' || payout === undefined) continue;
    shared.set(payout.hash, [...(shared.get(payout.hash) ?? []), payout.status]);
  }
  verdict.none(
    [...shared].filter(([, statuses]) => statuses.sort().join() !== 'expired,received'),
    'of two payouts naming one transfer not exactly one was received',
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
  // The reports with the most attempts.
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

/** The receiver got every outcome and nothing else; each delivery had its own webhook-id. */
export async function checkWebhooks(pool: pg.Pool, receiver: Receivers, verdict: Verdict): Promise<void> {
  verdict.none(receiver.faults, 'a delivery did not verify');
  for (const [type, event] of [
    ['payout.received', 'payout.received.v2'],
    ['payout.failed', 'payout.expired.v1'],
  ] as const) {
    const deliveries = receiver.subjects(type, 'payout_id');
    const notified = new Set(deliveries);
    const found = await pool.query<{ id: string }>(
      `select data::json->>'payout_id' as id from event_store.events where type = $1`,
      [event],
    );
    const happened = new Set(found.rows.map(({ id }) => id));
    verdict.none(
      [...happened].filter((id) => !notified.has(id)),
      `a ${type} never arrived`,
    );
    verdict.none(
      [...notified].filter((id) => !happened.has(id)),
      `a ${type} arrived for a payout without that outcome`,
    );
    verdict.equal(deliveries.length, notified.size, `webhook-ids of ${type}, one per payout`);
  }
}
