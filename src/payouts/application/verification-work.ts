import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/**
 * How long a process keeps others from the payouts it took, in seconds: so long a payout rests when the process is
 * killed. A round that takes longer is harmless, because a payout ends once whoever looks at it.
 */
const LEASE_SECONDS = 15;
/** Payouts younger than this wait in a line of their own, so that a heap of old ones does not hold them up. */
const FRESH_SECONDS = 600;
/** One part in so many of each take is kept for the old ones, so that they are not starved either. */
const OLD_SHARE = 5;

/** A payout to be looked up. */
export interface Verification {
  readonly payoutId: string;
  readonly userId: string;
  /** Lower-cased when EVM. */
  readonly hash: string;
  readonly amountMinor: bigint;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Null while the user has none. */
  readonly wallet: string | null;
  /** Logs of the transaction that confirmed other payouts. */
  readonly usedLogs: ReadonlySet<number>;
}

/** When to look again, and what the last look said. A null finding keeps the one before. */
export interface NextCheck {
  readonly payoutId: string;
  readonly delayMs: number;
  readonly finding: string | null;
}

interface Row {
  readonly payout_id: string;
  readonly user_id: string;
  readonly hash: string;
  readonly amount_minor: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly wallet: string | null;
  readonly used: number[];
}

/** The table of payouts to look up, shared by all processes: a taken row is due again only when its lease ends. */
@Injectable()
export class VerificationWork {
  constructor(private readonly database: Database) {}

  /** Takes up to `limit` payouts of the chain that are due: fresh ones first, each kind longest due first. */
  async take(chainId: number, limit: number): Promise<readonly Verification[]> {
    const rows = await this.database.query<Row>(
      `with fresh as (
         select payout_id from payouts.verifications
         where chain_id = $1 and not old and next_check_at <= now()
         order by next_check_at limit $2::int - $2::int / ${OLD_SHARE} for update skip locked
       ), old as (
         select payout_id from payouts.verifications
         where chain_id = $1 and old and next_check_at <= now()
         order by next_check_at limit $2::int - (select count(*) from fresh) for update skip locked
       )
       update payouts.verifications work set next_check_at = now() + make_interval(secs => ${LEASE_SECONDS})
       where work.payout_id = any(array(select payout_id from fresh union all select payout_id from old))
       returning work.payout_id, work.user_id, work.hash, work.amount_minor, work.created_at, work.expires_at,
         (select address from payouts.wallets wallet where wallet.user_id = work.user_id) as wallet,
         array(select log_index from payouts.used_transfers used
               where used.chain_id = work.chain_id and used.hash = work.hash and used.payout_id <> work.payout_id) as used`,
      [chainId, limit],
    );
    return rows.map((row) => ({
      payoutId: row.payout_id,
      userId: row.user_id,
      hash: row.hash,
      amountMinor: BigInt(row.amount_minor),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      wallet: row.wallet,
      usedLogs: new Set(row.used),
    }));
  }

  async putBack(checks: readonly NextCheck[]): Promise<void> {
    if (checks.length === 0) return;
    await this.database.query(
      `update payouts.verifications work
       set next_check_at = now() + make_interval(secs => next.delay / 1000.0),
           old = work.created_at < now() - make_interval(secs => ${FRESH_SECONDS}),
           last_finding = coalesce(next.finding, work.last_finding)
       from unnest($1::uuid[], $2::float8[], $3::text[]) as next (payout_id, delay, finding)
       where work.payout_id = next.payout_id`,
      [
        checks.map((check) => check.payoutId),
        checks.map((check) => check.delayMs),
        checks.map((check) => check.finding),
      ],
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
