import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { LATEST_FINDING } from './overdue-payouts.js';
import { MAX_CHECKS } from '../store/payout-checks.js';
import { VERIFICATION } from '../store/verification-queue.js';
import type { CheckFinding } from '../domain/verification.js';

/**
 * The `check` of a payout (admin-api.md 3). `attempts`: checks so far. `next_at`: null once the payout has its outcome.
 * The others become null some days after it, when its checks are deleted.
 */
export interface CheckJson {
  readonly last_at: string | null;
  readonly last_finding: CheckFinding | null;
  readonly next_at: string | null;
  readonly attempts: number | null;
}

/** One check of a payout: what was found, at which node, and how high its newest block was. */
interface PastCheckJson {
  readonly at: string;
  readonly finding: CheckFinding;
  readonly node: string | null;
  readonly head: number | null;
  readonly confirmations: number | null;
}

interface LatestRow {
  readonly [column: string]: unknown;
  readonly id: string;
  readonly due_at: Date | null;
  readonly at: Date | null;
  readonly finding: CheckFinding | null;
  readonly number: number | null;
}

/** When was a payout checked on the chain, what was found, and when is it checked next? */
@Injectable()
export class ChecksView {
  constructor(private readonly database: Database) {}

  /** By the ids of the payouts. */
  async latest(payoutIds: readonly string[]): Promise<ReadonlyMap<string, CheckJson>> {
    if (payoutIds.length === 0) return new Map();
    const rows = await this.database.query<LatestRow>(
      `select listed.id, item.due_at, latest.at, latest.number, ${LATEST_FINDING} as finding
       from unnest($1::uuid[]) as listed (id)
       left join payouts.verifications pending on pending.payout_id = listed.id
       left join work.items item on item.kind = '${VERIFICATION}' and item.key = listed.id::text
       left join lateral (
         select at, finding, number from payouts.checks where payout_id = listed.id order by number desc limit 1
       ) latest on true`,
      [payoutIds],
    );
    return new Map(rows.map((row) => [row.id, checkJson(row)]));
  }

  /** Newest first, {@link MAX_CHECKS} at most. */
  async of(payoutId: string): Promise<readonly PastCheckJson[]> {
    const rows = await this.database.query<
      Record<'finding' | 'node', string> &
        Record<'head' | 'confirmations', string | null> & { readonly at: Date }
    >(
      `select at, finding, node, head, confirmations from payouts.checks where payout_id = $1
       order by number desc limit ${MAX_CHECKS}`,
      [payoutId],
    );
    return rows.map(({ at, finding, node, head, confirmations }) => ({
      at: at.toISOString(),
      finding: finding as CheckFinding,
      node,
      head: numberOf(head),
      confirmations: numberOf(confirmations),
    }));
  }
}

function checkJson({ due_at: dueAt, at, finding, number }: LatestRow): CheckJson {
  return {
    last_at: at?.toISOString() ?? null,
    last_finding: finding,
    next_at: dueAt?.toISOString() ?? null,
    attempts: number ?? (dueAt === null ? null : 0),
  };
}

function numberOf(bigint: string | null): number | null {
  return bigint === null ? null : Number(bigint);
}
