import { Inject, Injectable } from '@nestjs/common';
import { fromMinorUnits } from '../../../kernel/money.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/postgres/database.js';
import { describeStuckPayout, type OverdueReason } from '../domain/stuck-reasons.js';
import type { CheckFinding } from '../domain/verification.js';
import { LATEST_FINDING } from '../store/payout-checks.js';
import { overdueReason, PENDING_PAYOUTS } from './overdue-payouts.js';

/** Findings that no further check is going to change. */
const DEAD_ENDS = [
  'not_a_hash',
  'reverted',
  'wrong_token',
  'wrong_recipient',
  'wrong_amount',
  'already_used',
  'not_written',
  'row_changed',
] as const satisfies readonly CheckFinding[];

/** A pending payout, what its checks saw, in words, and what to do next. */
export interface StuckPayout {
  readonly payout_id: string;
  readonly merchant_id: string;
  readonly user_id: string;
  readonly chain_id: number;
  readonly transaction_hash: string;
  readonly amount: string;
  readonly created_at: string;
  /** End of its window. */
  readonly expires_at: string;
  /** Null: its checks are as they should be. */
  readonly overdue: OverdueReason | null;
  readonly last_finding: CheckFinding | null;
  readonly last_at: string | null;
  /** Host of the node that was read last. */
  readonly node: string | null;
  readonly next_at: string;
  readonly attempts: number;
  readonly saw: string;
  readonly next: string;
}

interface Row {
  readonly [column: string]: unknown;
  readonly payout_id: string;
  readonly merchant_id: string;
  readonly user_id: string;
  readonly chain_id: string;
  readonly hash: string;
  readonly amount_minor: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly due_at: Date;
  readonly overdue: OverdueReason | null;
  readonly finding: CheckFinding | null;
  readonly at: Date | null;
  readonly node: string | null;
  readonly number: number | null;
}

/** Which pending payouts need an operator, and why? */
@Injectable()
export class StuckPayouts {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG)
    private readonly config: Pick<
      Config,
      'chainId' | 'chainMaxHeadAgeSeconds' | 'payoutFinality' | 'payoutExpiryMarginSeconds'
    >,
  ) {}

  /** Oldest first: those that are overdue, and those whose transfer is not the one that was reported. */
  list(limit: number): Promise<readonly StuckPayout[]> {
    const condition = `overdue is not null or finding = any($1) order by created_at, payout_id limit $2`;
    return this.read('true', condition, [DEAD_ENDS, limit]);
  }

  /** Null when the payout is not pending. */
  async find(payoutId: string): Promise<StuckPayout | null> {
    return (await this.read('pending.payout_id = $1', 'true', [payoutId]))[0] ?? null;
  }

  private async read(
    which: string,
    condition: string,
    values: readonly unknown[],
  ): Promise<readonly StuckPayout[]> {
    const rows = await this.database.query<Row>(
      `select * from (
         select pending.payout_id, merchant_id, user_id, chain_id, hash, amount_minor, created_at, expires_at, due_at,
           ${overdueReason(this.config)} as overdue, ${LATEST_FINDING} as finding, latest.at, latest.node, latest.number
         from ${PENDING_PAYOUTS} left join lateral (
           select finding, at, node, number from payouts.checks done where done.payout_id = pending.payout_id
           order by number desc limit 1
         ) latest on true
         where ${which}
       ) listed where ${condition}`,
      values,
    );
    return rows.map(stuckPayout);
  }
}

function stuckPayout(row: Row): StuckPayout {
  const { payout_id, merchant_id, user_id, overdue, finding, node } = row;
  return {
    payout_id,
    merchant_id,
    user_id,
    chain_id: Number(row.chain_id),
    transaction_hash: row.hash,
    amount: fromMinorUnits(BigInt(row.amount_minor)),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    overdue,
    last_finding: finding,
    last_at: row.at?.toISOString() ?? null,
    node,
    next_at: row.due_at.toISOString(),
    attempts: row.number ?? 0,
    ...describeStuckPayout(overdue, finding),
  };
}
