import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { PAYOUT_EXPIRED, PAYOUT_RECEIVED } from '../domain/payout-events.js';
import { CopyWriter } from '../../../platform/postgres/copy-writer.js';
import { addChange, bodySql, noChanges, recordUsers, STATUS, type PayoutRow } from './payout-changes.js';

/** Payouts without an outcome that are kept in memory; beyond it the older half is written as pending. */
const MAX_OPEN = 100_000;

/**
 * Fills both read models, empty tables in `schema`, from the whole history: a fold in memory and COPY. Memory stays
 * bounded however long the history is.
 */
export async function fillPayoutViews(
  history: AsyncIterable<readonly RecordedEvent[]>,
  tx: PoolClient,
  schema: string,
  maxOpen: number = MAX_OPEN,
): Promise<void> {
  await tx.query(`set local work_mem = '64MB'`);
  await tx.query(`
    create temporary table late_outcomes (id uuid, status smallint, log_index integer, body_before_time text) on commit drop`);
  await tx.query(`create temporary table created_users (user_id uuid, merchant_id uuid) on commit drop`);
  const payouts = `${schema}.payouts`;

  const copy = new CopyWriter(tx);
  const changes = noChanges();
  for await (const events of history) {
    for (const event of events) {
      addChange(changes, event);
      if (event.type === PAYOUT_RECEIVED || event.type === PAYOUT_EXPIRED)
        writeEnded(String(event.data['payout_id']));
    }
    for (const [id, merchantId] of changes.users) copy.add('created_users', id, merchantId);
    changes.users.clear();
    if (changes.reported.size > maxOpen) writeOldest(changes.reported.size - maxOpen / 2);
    await copy.sendFull();
  }
  writeOldest(changes.reported.size);
  await copy.finish();

  await tx.query(`
    update ${payouts} payout
    set status = late.status, log_index = late.log_index,
        body = ${bodySql('late.body_before_time', 'payout.created_at')}
    from late_outcomes late where payout.id = late.id`);
  await tx.query(`
    insert into ${schema}.balances (user_id, merchant_id, confirmed, pending)
    select user_id, merchant_id, coalesce(sum(amount_minor) filter (where status = ${STATUS.received}), 0),
      coalesce(sum(amount_minor) filter (where status = ${STATUS.pending}), 0)
    from (select user_id, merchant_id, status, amount_minor from ${payouts}
          union all select user_id, merchant_id, null, null from created_users) paid
    group by user_id, merchant_id`);
  await recordUsers(changes, tx, schema);

  function writeEnded(id: string): void {
    const row = changes.reported.get(id);
    const outcome = changes.outcomes.get(id)!;
    changes.outcomes.delete(id);
    if (row === undefined)
      return copy.add('late_outcomes', id, outcome.status, outcome.logIndex, outcome.bodyBeforeTime);
    write(row);
    changes.reported.delete(id);
  }

  function writeOldest(count: number): void {
    let left = count;
    for (const row of changes.reported.values()) {
      if (left <= 0) return;
      left -= 1;
      write(row);
      changes.reported.delete(row.id);
    }
  }

  function write(row: PayoutRow): void {
    copy.add(
      payouts,
      row.id,
      row.merchantId,
      row.userId,
      row.status,
      row.createdAt,
      row.amountMinor,
      row.transactionHash,
      row.logIndex,
      `${row.bodyBeforeTime},"created_at":"${row.createdAt}"}`,
    );
  }
}
