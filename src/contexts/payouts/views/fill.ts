import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { PAYOUT_REPORTED, type PayoutEvent, PAYOUT_EXPIRED, PAYOUT_RECEIVED } from '../contract.js';
import { CopyWriter } from './copy-writer.js';
import { withCreatedAt } from '../domain/payout-json.js';
import { addChange, bodySql, changeOf, noChanges, STATUS, type PayoutRow } from './payout-changes.js';
import { toMinorUnits } from '../../../kernel/money.js';
import type { UserCreated } from '../../users/contract.js';

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
    create temporary table late_outcomes (id uuid, status smallint, body_before_time text) on commit drop`);
  await tx.query(`
    create temporary table partial_totals (user_id uuid, merchant_id uuid, confirmed bigint, pending bigint)
    on commit drop`);
  const payouts = `${schema}.payouts`;

  const copy = new CopyWriter(tx);
  const totals = new UserTotals(copy, 'partial_totals');
  const changes = noChanges();
  for await (const events of history) {
    for (const recorded of events) {
      const event = changeOf(recorded);
      if (event === null) continue;
      addChange(changes, recorded);
      totals.add(event);
      if (event.type !== 'user.created.v1' && event.type !== PAYOUT_REPORTED) settled(event);
    }
    changes.users.length = 0;
    if (changes.reported.size > maxOpen) writeOldest(changes.reported.size - maxOpen / 2);
    totals.bound();
    await copy.sendFull();
  }
  writeOldest(changes.reported.size);
  totals.write();
  await copy.finish();

  await tx.query(`
    update ${payouts} payout
    set status = late.status,
        body = ${bodySql('late.body_before_time', 'payout.created_at')}
    from late_outcomes late where payout.id = late.id`);
  await tx.query(`
    insert into ${schema}.balances (user_id, merchant_id, confirmed, pending)
    select user_id, merchant_id, sum(confirmed), sum(pending) from partial_totals group by user_id, merchant_id`);

  function settled(event: PayoutEvent): void {
    const id = event.data.payout_id;
    const row = changes.reported.get(id);
    if (row !== undefined) {
      write(row);
      changes.reported.delete(id);
    }
    const outcome = changes.outcomes.get(id);
    if (outcome !== undefined) copy.add('late_outcomes', id, STATUS[outcome.status], outcome.bodyBeforeTime);
    changes.outcomes.delete(id);
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
      STATUS[row.status],
      row.createdAt,
      row.amountMinor,
      withCreatedAt(row.bodyBeforeTime, row.createdAt),
    );
  }
}

/** Users whose totals are added up in memory; beyond it the partial sums are written and begin again. */
const MAX_USERS = 200_000;

interface Totals {
  readonly merchantId: string;
  confirmed: bigint;
  pending: bigint;
}

/** Adds up what each user's payouts come to, in minor units, as partial sums for a table that is summed in the end. */
class UserTotals {
  private readonly users = new Map<string, Totals>();

  constructor(
    private readonly copy: CopyWriter,
    private readonly table: string,
  ) {}

  add(event: PayoutEvent | UserCreated): void {
    const totals = this.of(event.data.user_id, event.data.merchant_id);
    if (event.type === 'user.created.v1') return;
    const amount = toMinorUnits(event.data.amount);
    if (event.type === PAYOUT_RECEIVED) totals.confirmed += amount;
    totals.pending += event.type === PAYOUT_RECEIVED || event.type === PAYOUT_EXPIRED ? -amount : amount;
  }

  /** Keeps the number of users in memory bounded. */
  bound(): void {
    if (this.users.size > MAX_USERS) this.write();
  }

  write(): void {
    for (const [userId, { merchantId, confirmed, pending }] of this.users) {
      this.copy.add(this.table, userId, merchantId, confirmed, pending);
    }
    this.users.clear();
  }

  private of(userId: string, merchantId: string): Totals {
    let totals = this.users.get(userId);
    if (totals === undefined) this.users.set(userId, (totals = { merchantId, confirmed: 0n, pending: 0n }));
    return totals;
  }
}
