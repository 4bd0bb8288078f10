import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { toMinorUnits } from '../../../kernel/money.js';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import { subscriptionName } from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
import {
  dropWork,
  scheduleWork,
  wakeWork,
  WorkItems,
  type Next,
  type WorkItem,
} from '../../../platform/jobs/work-items.js';
import {
  comparableHash,
  PAYOUT_EXPIRED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  STATUS,
  type PayoutReported,
} from '../payouts/payout-events.js';
import type { CheckFinding, Closing } from './verification.js';

/** The kind of work items for verifications. `key` is the payout, `share` is the merchant. */
export const VERIFICATION = 'payouts.verification';
export const VERIFICATION_SAGA = subscriptionName(VERIFICATION);

/** The work list that the audit checks. A payout without its work item or row would stay pending. */
export const VERIFICATION_WORK_LIST: WorkList = {
  name: VERIFICATION_SAGA,
  table: 'payouts.verifications',
  listed: `payout_id = due.id
    and exists (select from work.items where kind = '${VERIFICATION}' and key = due.id::text)`,
  id: 'payout_id',
  begins: PAYOUT_REPORTED,
  ends: [PAYOUT_RECEIVED, PAYOUT_EXPIRED],
};

/** The lines of the queue, which separate fresh payouts, old payouts, and payouts without a response. */
export const LINES = { fresh: 0, old: 1, noResponse: 2 } as const;

const LEASE_MS = 15_000;
const FRESH_MS = 600_000;
/** The delay of a payout on another chain, which is checked again because CHAIN_ID may change. */
const OTHER_CHAIN_MS = 30 * 60_000;

/** The state of a work item, empty before the first check. Times are ISO 8601. */
interface State {
  readonly checks?: number;
  /** The scheduled time of the next check. Unlike `due_at`, it does not change with each attempt. */
  readonly due?: string;
  readonly closing?: Closing | null;
  /** The time of the last check that did not find the transfer final. */
  readonly notFinalAt?: string | null;
}

export interface PendingPayout {
  readonly payoutId: string;
  readonly userId: string;
  readonly merchantId: string;
  /** The transaction hash. An EVM hash is in lower case. */
  readonly hash: string;
  readonly amountMinor: bigint;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The user's wallet, set by the round; null if there is none, undefined if the user could not be read. */
  wallet?: string | null | undefined;
  /** The logs that confirmed other payouts. The read model may lag, so no outcome depends on them. */
  readonly usedLogs: ReadonlySet<number>;
  /** The item that schedules the checks. Its failures are consecutive checks without a usable response. */
  readonly item: WorkItem<State>;
}

export interface Claimed {
  readonly payouts: readonly PendingPayout[];
  /** The time of the claim by the database's clock. */
  readonly now: Date;
  /** True when more payouts may be due. */
  readonly more: boolean;
}

export interface NextCheck {
  readonly payout: PendingPayout;
  readonly delayMs: number;
  readonly finding: CheckFinding;
  /** True for a transaction that can only be read in a separate request. */
  readonly isLarge?: boolean | undefined;
  /** The first check after the window, for a later check to confirm. */
  readonly closing?: Closing;
}

interface Row extends Pick<
  PendingPayout,
  'payoutId' | 'userId' | 'merchantId' | 'hash' | 'createdAt' | 'expiresAt'
> {
  readonly [column: string]: unknown;
  readonly chain_id: string;
  readonly amount_minor: string;
  readonly used: number[];
  readonly now: Date;
}

/** The queue of pending payouts, shared by all processes. */
@Injectable()
export class VerificationQueue {
  constructor(
    private readonly database: Database,
    private readonly items: WorkItems,
  ) {}

  /** Claims up to `limit` due payouts, line by line, with a fair share for each merchant. */
  async claim(chainId: number, limit: number, lines: readonly number[]): Promise<Claimed> {
    const { items, more } = await this.items.claim<State>({
      kind: VERIFICATION,
      limit,
      leaseMs: LEASE_MS,
      lines,
    });
    if (items.length === 0) return { payouts: [], now: new Date(0), more };
    const rows = await this.database.query<Row>(FACTS, [items.map(({ key }) => key)]);
    const facts = new Map(rows.map((row) => [row.payoutId, row]));
    // An item without a row was changed outside the service. Its lease expires, and an audit reports it.
    const known = items.flatMap((item) => {
      const row = facts.get(item.key);
      return row === undefined ? [] : [{ item, row }];
    });
    const isOther = ({ row }: { readonly row: Row }): boolean => Number(row.chain_id) !== chainId;
    await this.items.retryAll(known.filter(isOther).map(({ item }) => [item, { inMs: OTHER_CHAIN_MS }]));
    const payouts = known.filter((each) => !isOther(each)).map(({ item, row }) => toPendingPayout(item, row));
    return { payouts, now: rows[0]?.now ?? new Date(0), more };
  }

  /** Extends the leases while `round` runs, because rescheduling requires them. */
  whileClaimed<T>(payouts: readonly PendingPayout[], round: () => Promise<T>): Promise<T> {
    const items = payouts.map(({ item }) => item);
    return this.items.whileClaimed(items, LEASE_MS, round);
  }

  /** Schedules the next checks. `readAt` is a time before the chain was read. */
  async reschedule(checks: readonly NextCheck[], now: Date, readAt = now): Promise<void> {
    await this.items.retryAll(checks.map((check) => [check.payout.item, toNext(check, now, readAt)]));
  }

  /** Makes payouts due after `delayMs`, with unchanged state, because no node responded. */
  async postpone(payouts: readonly PendingPayout[], delayMs: number): Promise<void> {
    await this.items.extend(
      payouts.map(({ item }) => item),
      delayMs,
    );
  }

  async remove(payoutIds: readonly string[]): Promise<void> {
    if (payoutIds.length > 0) await this.database.transaction((tx) => removeVerifications(payoutIds, tx));
  }

  async count(): Promise<number> {
    const [row] = await this.database.query<{ count: string }>('select count(*) from payouts.verifications');
    return Number(row?.count ?? 0);
  }
}

const FACTS = `
  select payout_id as "payoutId", user_id as "userId", merchant_id as "merchantId", hash, created_at as "createdAt",
    expires_at as "expiresAt", chain_id, amount_minor, clock_timestamp() as now,
    array(select log_index from payouts.payouts used
          where hashtextextended(transaction_hash, 0) = hashtextextended(work.hash, 0)
            and transaction_hash = work.hash and status = ${STATUS.received} and id <> work.payout_id) as used
  from payouts.verifications work where payout_id = any($1::uuid[])`;

function toPendingPayout(item: WorkItem<State>, row: Row): PendingPayout {
  // A spread of the row would cost 6 % of the CPU of a process with many pending payouts.
  return {
    payoutId: row.payoutId,
    userId: row.userId,
    merchantId: row.merchantId,
    hash: row.hash,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    amountMinor: BigInt(row.amount_minor),
    usedLogs: new Set(row.used),
    item,
  };
}

/** The findings without information about the transfer. */
const SAYS_NOTHING: ReadonlySet<CheckFinding> = new Set([
  'no_response',
  'not_confirmed',
  'not_written',
  'row_changed',
]);

export function hasNoResponse(finding: CheckFinding): boolean {
  return finding === 'no_response' || finding === 'not_confirmed';
}

function toNext({ payout, delayMs, finding, isLarge, closing }: NextCheck, now: Date, readAt: Date): Next {
  const isOld = payout.createdAt.getTime() < now.getTime() - FRESH_MS;
  const before = payout.item.state;
  const isNotFinal = !SAYS_NOTHING.has(finding) && finding !== 'settled';
  // The first check after the window stays stored until a check has another finding.
  const isFirst = closing !== undefined && closing.finding !== before.closing?.finding;
  const state: State = {
    closing: isFirst ? closing : (before.closing ?? null),
    checks: (before.checks ?? 0) + 1,
    due: new Date(now.getTime() + delayMs).toISOString(),
    notFinalAt: isNotFinal ? readAt.toISOString() : (before.notFinalAt ?? null),
  };
  if (hasNoResponse(finding)) {
    return { inMs: delayMs, line: LINES.noResponse, state, failure: { cause: 'no usable response' } };
  }
  return { inMs: delayMs, line: isLarge ? LINES.noResponse : isOld ? LINES.old : LINES.fresh, state };
}

export async function addVerifications(
  reported: readonly PayoutReported['data'][],
  tx: PoolClient,
): Promise<void> {
  if (reported.length === 0) return;
  await tx.query(
    `insert into payouts.verifications
       (payout_id, user_id, chain_id, created_at, expires_at, merchant_id, hash, amount_minor)
     select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::uuid[],
       $7::text[], $8::bigint[]) on conflict do nothing`,
    [
      ...columnArrays(
        reported,
        'payout_id',
        'user_id',
        'chain_id',
        'created_at',
        'expires_at',
        'merchant_id',
      ),
      reported.map((data) => comparableHash(data.transaction_hash)),
      reported.map((data) => toMinorUnits(data.amount).toString()),
    ],
  );
  const items = reported.map(({ payout_id: key, merchant_id: share }) => ({ key, share }));
  await scheduleWork(tx, VERIFICATION, items);
}

/** Makes the pending payouts of these users due, because the users now have a wallet. */
export async function wakeVerifications(userIds: readonly string[], tx: PoolClient): Promise<void> {
  if (userIds.length === 0) return;
  const { rows } = await tx.query<{ payout_id: string }>(
    'select payout_id from payouts.verifications where user_id = any($1::uuid[])',
    [userIds],
  );
  await wakeWork(
    tx,
    VERIFICATION,
    rows.map((row) => row.payout_id),
  );
}

export async function removeVerifications(payoutIds: readonly string[], tx: PoolClient): Promise<void> {
  if (payoutIds.length === 0) return;
  await dropWork(tx, VERIFICATION, payoutIds);
  await tx.query('delete from payouts.verifications where payout_id = any($1::uuid[])', [payoutIds]);
}
