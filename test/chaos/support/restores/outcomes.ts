import type pg from 'pg';
import type { Acknowledged } from '../report-load.js';
import type { Verdict } from '../verdict.js';
import type { Receivers } from '../webhooks/receivers.js';

const OUTCOMES = {
  'payout.received.v2': 'payout.received',
  'payout.expired.v1': 'payout.failed',
} as const;

/** Counts payouts without an outcome, outcomes that did not arrive, and pending deliveries. */
export async function undelivered(pool: pg.Pool, receiver: Receivers): Promise<number> {
  const { rows } = await pool.query<{ left: number }>(
    `select ((select count(*) from payouts.payouts where status = 0)
       + (select count(*) from webhooks.deliveries where state = 'pending'))::int as left`,
  );
  return rows[0]!.left + (await unnotified(pool, receiver)).length;
}

/**
 * Every outcome arrived, also the lost ones. An outcome found again is the same, unless two payouts name one transfer:
 * it may then have confirmed the other one before the restore.
 */
export async function checkOutcomesDelivered(
  pool: pg.Pool,
  receiver: Receivers,
  acknowledged: readonly Acknowledged[],
  verdict: Verdict,
): Promise<void> {
  verdict.none(receiver.faults, 'a delivery did not verify');
  verdict.none(await unnotified(pool, receiver), 'an outcome never arrived');
  const happened = new Set((await outcomes(pool)).map(textOf));
  const sharing = new Set(
    acknowledged.filter(({ backing }) => backing === 'shared').map(({ payoutId }) => payoutId),
  );
  const others = Object.values(OUTCOMES)
    .flatMap((type) => receiver.subjects(type, 'payout_id').map((id) => ({ type, id })))
    .filter((each) => !happened.has(textOf(each)) && !sharing.has(each.id));
  verdict.none(others, 'an outcome arrived that the payout does not have after the restore');
}

interface Outcome {
  readonly type: string;
  readonly id: string;
}

async function unnotified(pool: pg.Pool, receiver: Receivers): Promise<readonly Outcome[]> {
  const notified = new Set(
    Object.values(OUTCOMES).flatMap((type) =>
      receiver.subjects(type, 'payout_id').map((id) => textOf({ type, id })),
    ),
  );
  return (await outcomes(pool)).filter((each) => !notified.has(textOf(each)));
}

async function outcomes(pool: pg.Pool): Promise<readonly Outcome[]> {
  const { rows } = await pool.query<{ type: keyof typeof OUTCOMES; id: string }>(
    `select type, data::json->>'payout_id' as id from event_store.events where type = any($1::text[])`,
    [Object.keys(OUTCOMES)],
  );
  return rows.map(({ type, id }) => ({ type: OUTCOMES[type], id }));
}

function textOf({ type, id }: Outcome): string {
  return `${type} ${id}`;
}
