import { comparePositions } from '../../../platform/event-store/port.js';
import type { BookedRows } from '../domain/booked-rows.js';
import type { Books } from '../domain/books.js';
import type { Differences } from '../domain/differences.js';
import type { AuditedTables } from '../store/audited-tables.js';
import type { LogAudit } from './log-audit.js';

/** The checkpoint of the list of payouts that are looked up on the chain. */
const PAYOUT_VERIFICATION = 'payouts.verification';

/** Each row, and the response the API gives from it. */
export async function comparePayouts(
  tables: AuditedTables,
  booked: BookedRows,
  differences: Differences,
): Promise<void> {
  await tables.payouts(({ id, merchant_id, user_id, status, amount_minor, created_at, body }) => {
    const row = [merchant_id, user_id, status, amount_minor, created_at.getTime(), body];
    const agrees = booked.agrees(id, row);
    if (agrees === null) differences.add(`payout ${id} has a row and no event`);
    else if (!agrees) differences.add(`payout ${id} has a row that differs from its events`);
  });
  for (const id of booked.unseen()) differences.add(`payout ${id} has events and no row`);
}

export async function compareBalances(
  tables: AuditedTables,
  { balances }: Books,
  differences: Differences,
): Promise<void> {
  const seen = new Set<string>();
  await tables.balances((row) => {
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

/** Every pending payout is on the list of those that are looked up: else it would be pending for ever. */
export async function compareWork(
  tables: AuditedTables,
  { books, endedLater }: LogAudit,
  differences: Differences,
): Promise<void> {
  const listedUpTo = await tables.checkpointOf(PAYOUT_VERIFICATION);
  const listed = await tables.verifications();
  for (const { id, reportedAt } of books.open.values()) {
    const due = comparePositions(reportedAt, listedUpTo) <= 0;
    if (due && !listed.has(id) && !endedLater.has(id))
      differences.add(`payout ${id} is pending, and nobody looks for its transfer`);
  }
}
