import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { Closing } from '../domain/agreement.js';
import { OLD_SHARE, TAKE_BY_TURNS } from './take-by-turns.js';

/** Payouts younger than this wait in a line of their own, so that a heap of old ones does not hold them up. */
const FRESH_SECONDS = 600;

/** A payout to be looked up. */
export interface Verification {
  readonly payoutId: string;
  readonly userId: string;
  /** Whose turn it was taken in: the merchant. */
  readonly turn: string;
  /** Lower-cased when EVM. */
  readonly hash: string;
  readonly amountMinor: bigint;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Null while the user has none. */
  readonly wallet: string | null;
  /** Logs of the transaction that confirmed other payouts. */
  readonly usedLogs: ReadonlySet<number>;
  /** How many looks in a row found no usable response. */
  readonly unanswered: number;
  /** The first look after the window; null before it. */
  readonly closing: Closing | null;
}

/** Payouts taken together. */
export interface Taken {
  readonly work: readonly Verification[];
  /** The time by the database's clock. */
  readonly now: Date;
  /** More may be due. */
  readonly more: boolean;
}

/** When to look again, and what the last look said. */
export interface NextCheck {
  readonly payoutId: string;
  readonly delayMs: number;
  /** Null when the look gave no usable response: the finding before it stays. */
  readonly finding: string | null;
  /** It can be read alone only: it stays in the line of those. */
  readonly isLarge?: boolean | undefined;
  /** The look was the first after the window that says this; a later one may agree. */
  readonly closing?: { readonly finding: string; readonly head: number };
}

interface Row {
  readonly payout_id: string;
  readonly user_id: string;
  readonly turn: string;
  readonly hash: string;
  readonly amount_minor: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly wallet: string | null;
  readonly used: number[];
  readonly unanswered: number;
  readonly closing_finding: string | null;
  readonly closing_head: string | null;
  readonly closing_at: Date | null;
  readonly now: Date;
  readonly more: boolean;
}

/** The table of payouts to look up, shared by all processes: a taken row is due again only when its lease ends. */
@Injectable()
export class Verifications {
  constructor(private readonly database: Database) {}

  /**
   * Takes up to `limit` payouts of the chain that are due, merchants by turns. `prompt`: those that the node has
   * responses for, fresh ones first; `silent`: those that it gave no usable response for the last time.
   */
  async take(chainId: number, limit: number, line: 'prompt' | 'silent' = 'prompt'): Promise<Taken> {
    const rows = await this.database.query<Row & Record<string, unknown>>(TAKE_BY_TURNS[line], [
      chainId,
      limit,
    ]);
    return {
      work: rows.map(verificationOf),
      now: rows[0]?.now ?? new Date(0),
      // Fresh ones alone fill no take.
      more: rows.some(({ more }) => more) || rows.length >= limit - limit / OLD_SHARE,
    };
  }

  async putBack(checks: readonly NextCheck[]): Promise<void> {
    if (checks.length === 0) return;
    await this.database.query(
      `update payouts.verifications work
       set next_check_at = now() + make_interval(secs => next.delay / 1000.0),
           old = work.created_at < now() - make_interval(secs => ${FRESH_SECONDS}),
           last_finding = coalesce(next.finding, work.last_finding),
           unanswered = case when next.finding is null then least(work.unanswered + 1, 100)
             when next.is_large then 1 else 0 end,
           closing_finding = coalesce(next.closing, work.closing_finding),
           closing_head = case when coalesce(next.closing, work.closing_finding) is distinct from work.closing_finding
             then next.head else work.closing_head end,
           closing_at = case when coalesce(next.closing, work.closing_finding) is distinct from work.closing_finding
             then now() else work.closing_at end
       from unnest($1::uuid[], $2::float8[], $3::text[], $4::text[], $5::bigint[], $6::boolean[])
         as next (payout_id, delay, finding, closing, head, is_large)
       where work.payout_id = next.payout_id`,
      [
        checks.map((check) => check.payoutId),
        checks.map((check) => check.delayMs),
        checks.map((check) => check.finding),
        checks.map((check) => check.closing?.finding ?? null),
        checks.map((check) => check.closing?.head ?? null),
        checks.map((check) => check.isLarge === true),
      ],
    );
  }

  /** Puts payouts back as they were, to be taken again after `delayMs`: nobody was asked about them. */
  async postpone(payoutIds: readonly string[], delayMs: number): Promise<void> {
    if (payoutIds.length === 0) return;
    await this.database.query(
      `update payouts.verifications set next_check_at = now() + make_interval(secs => $2::float8 / 1000.0)
       where payout_id = any($1::uuid[])`,
      [payoutIds, delayMs],
    );
  }

  /** Takes payouts off the list that have their outcome. */
  async remove(payoutIds: readonly string[]): Promise<void> {
    if (payoutIds.length === 0) return;
    await this.database.query('delete from payouts.verifications where payout_id = any($1::uuid[])', [
      payoutIds,
    ]);
  }

  /** How many payouts wait for their transfer. */
  async count(): Promise<number> {
    const [row] = await this.database.query<{ count: string }>('select count(*) from payouts.verifications');
    return Number(row?.count ?? 0);
  }
}

function verificationOf(row: Row): Verification {
  const { closing_finding: finding, closing_head: head, closing_at: at } = row;
  return {
    payoutId: row.payout_id,
    userId: row.user_id,
    turn: row.turn,
    hash: row.hash,
    amountMinor: BigInt(row.amount_minor),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    wallet: row.wallet,
    usedLogs: new Set(row.used),
    unanswered: row.unanswered,
    closing: finding === null || at === null ? null : { finding, head: Number(head), at },
  };
}
