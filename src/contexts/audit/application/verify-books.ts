import type { BookedRows } from '../domain/booked-rows.js';
import type { Books } from '../domain/books.js';
import type { Differences } from '../domain/differences.js';
import type { AuditedPayouts } from '../../payouts/contract.js';

/** Each row, and the response the API gives from it. */
export async function comparePayouts(
  rows: AuditedPayouts,
  booked: BookedRows,
  differences: Differences,
): Promise<void> {
  await rows.payouts(({ id, merchant_id, user_id, status, amount_minor, created_at, body }) => {
    const row = [merchant_id, user_id, status, amount_minor, created_at.getTime(), body];
    const agrees = booked.agrees(id, row);
    if (agrees === null) differences.add(`payout ${id} has a row and no event`);
    else if (!agrees) differences.add(`payout ${id} has a row that differs from its events`);
  });
  for (const id of booked.unseen()) differences.add(`payout ${id} has events and no row`);
}

export async function compareBalances(
  rows: AuditedPayouts,
  { balances }: Books,
  differences: Differences,
): Promise<void> {
  const seen = new Set<string>();
  await rows.balances((row) => {
    seen.add(row.user_id);
    const balance = balances.get(row.user_id);
    const same =
      balance !== undefined &&
      balance.merchantId === row.merchant_id &&
      balance.confirmed === BigInt(row.confirmed) &&
      balance.pending === BigInt(row.pending);
    if (!same) differences.add(`user ${row.user_id} has a balance that differs from the events`);
  });
  for (const id of balances.keys()) if (!seen.has(id)) differences.add(`user ${id} has no balance`);
}
