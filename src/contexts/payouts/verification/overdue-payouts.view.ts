import { Inject, Injectable } from '@nestjs/common';
import { chainRules } from '../../../platform/chain/chain-rules.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { inDays, listPage } from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { comparableHash, STATUS } from '../payouts/payout-events.js';
import { PAYOUT_COLUMNS, type PayoutFilter, type PayoutJson } from '../payouts/payouts.view.js';
import { VERIFICATION } from './verification-queue.store.js';

/** The delay of a due check that indicates a missing worker or unreliable nodes. */
const CHECK_LATE_SECONDS = 60;
/** The longest time without a usable response about one transaction. */
const NO_RESPONSE_SECONDS = 600;
/** The longest time to an outcome after the window and the two checks that let a payout expire. */
const OUTCOME_LATE_SECONDS = 600;

export const PENDING_PAYOUTS = `payouts.verifications pending
  join work.items item on item.kind = '${VERIFICATION}' and item.key = pending.payout_id::text`;

/**
 * An SQL condition on {@link PENDING_PAYOUTS}: the payout stays pending unless an operator acts. Its chain is
 * not CHAIN_ID, its check is late, its window is over, or no node responds about its transaction. Lateness
 * of a claimed check is measured from `due` of its state, because `due_at` changes with each attempt.
 */
export function isOverdue(settings: ChainConfig): string {
  const { expiryMarginSeconds } = chainRules(settings);
  const isBefore = (time: string, seconds: number): string =>
    `${time} < now() - interval '${seconds} seconds'`;
  const scheduled = `coalesce((item.state->>'due')::timestamptz, created_at)`;
  return `(pending.chain_id <> ${settings.chainId}
    or ${isBefore('item.due_at', CHECK_LATE_SECONDS)}
    or item.lease is not null and ${isBefore(scheduled, CHECK_LATE_SECONDS)}
    or ${isBefore('item.failing_since', NO_RESPONSE_SECONDS)}
    or ${isBefore('expires_at', 2 * expiryMarginSeconds + OUTCOME_LATE_SECONDS)}) is true`;
}

@Injectable()
export class OverduePayouts {
  constructor(
    private readonly database: Database,
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
  ) {}

  /** Returns a page of overdue payouts. Null `merchants` selects all merchants. */
  async rows(merchants: readonly string[] | null, filter: PayoutFilter) {
    const { user_id, status, transaction_hash, created_from, created_to } = filter;
    const where = {
      ...inDays('created_at', created_from, created_to),
      'merchant_id = any(?)': merchants,
      'user_id = ?': user_id,
      'hash = ?': transaction_hash && comparableHash(transaction_hash),
      false: status !== undefined && status !== 'pending',
      [isOverdue(this.config)]: true,
    };
    const list = { columns: 'payout_id as id', from: PENDING_PAYOUTS, id: 'payout_id', where };
    const { rows, next_cursor } = await listPage<{ id: string }>(this.database, list, filter);
    // The tables follow the log separately, so the other table may already have the outcome of a row.
    const pending = await this.database.query<PayoutJson & Record<string, unknown>>(
      `select ${PAYOUT_COLUMNS} from payouts.payouts where id = any($1) and status = ${STATUS.pending}
       order by created_at desc, id desc`,
      [rows.map(({ id }) => id)],
    );
    return { rows: pending, next_cursor };
  }
}
