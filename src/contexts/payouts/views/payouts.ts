import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  bodyPage,
  mergedByStatus,
  pageConditions,
  type BodyRows,
  type CreatedPage,
} from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import { comparableHash } from '../domain/payout-events.js';
import { payout } from '../domain/payout.js';
import { Receipts } from '../store/receipts.js';
import { figuresOf, type Figures } from './audited-payouts.js';
import { STATUS, type Status } from './payout-changes.js';

/** Of GET /merchants/v1/payouts (contract.md 9.7). */
export interface PayoutFilter extends CreatedPage {
  readonly userId?: string;
  readonly status?: Status;
  /** In either form in which hashes are written. */
  readonly transactionHash?: string;
}

/** Which payouts has a merchant reported, and what became of them? */
@Injectable()
export class PayoutsView {
  constructor(private readonly database: Database) {}

  /** The JSON of one payout as the API gives it; null when the merchant has no such payout. */
  async find(merchantId: string, payoutId: string): Promise<string | null> {
    const [row] = await this.database.query<{ body: string }>(
      'select body from payouts.payouts where id = $1 and merchant_id = $2',
      [payoutId, merchantId],
    );
    return row?.body ?? null;
  }

  /** The JSON text of one page, newest first. Keyset pagination: a page costs the same wherever it is. */
  async page(merchantId: string, filter: PayoutFilter, totals?: Totals): Promise<string> {
    const { bodies, last } = await bodyPage(this.database, pageRows(merchantId, filter));
    const cursor = last === null ? 'null' : `"${encodeCursor(last)}"`;
    const added = totals === undefined ? '' : `,"totals":${JSON.stringify(totals)}`;
    return `{"payouts":[${bodies}],"next_cursor":${cursor}${added}}`;
  }

  /** Reads all payouts that match, on every page: a total costs as much as the list is long. */
  async totals(merchantId: string, filter: PayoutFilter): Promise<Totals> {
    const { conditions, params } = matching(merchantId, { ...filter, after: undefined });
    const statuses = filter.status === undefined ? Object.keys(STATUS) : [filter.status];
    const rows = await this.database.query<{ status: number; count: string; amount: string }>(
      `select status, count(*), sum(amount_minor) as amount from payouts.payouts
       where ${conditions.join(' and ')} and status in (${statuses.map((each) => STATUS[each as Status]).join()})
       group by status`,
      params,
    );
    const of = (status: Status): Total => {
      const row = rows.find((each) => each.status === STATUS[status]);
      return { count: Number(row?.count ?? 0), amount: fromMinorUnits(BigInt(row?.amount ?? 0)) };
    };
    return { pending: of('pending'), received: of('received'), expired: of('expired') };
  }

  /** The JSON of all payouts that match, `pageSize` at a time. */
  async *bodies(merchantId: string, filter: PayoutFilter): AsyncGenerator<readonly string[]> {
    let { after } = filter;
    do {
      const { sql, params, pageSize } = pageRows(merchantId, { ...filter, after });
      const rows = await this.database.query<BodyRow>(sql, params);
      const page = rows.slice(0, pageSize);
      yield page.map(({ body }) => body);
      const last = page.at(-1);
      after = rows.length > pageSize ? { createdAt: last!.created_at, id: last!.id } : undefined;
    } while (after !== undefined);
  }
}

export interface Total {
  readonly count: number;
  /** A decimal of USDC. */
  readonly amount: string;
}

export type Totals = Readonly<Record<Status, Total>>;

interface Conditions {
  readonly conditions: readonly string[];
  readonly params: readonly (string | Date)[];
}

interface BodyRow {
  readonly [column: string]: unknown;
  readonly created_at: Date;
  readonly id: string;
  readonly body: string;
}

function pageRows(merchantId: string, filter: PayoutFilter): BodyRows {
  const { conditions, params } = matching(merchantId, filter);
  const statuses = filter.status === undefined ? Object.values(STATUS) : [STATUS[filter.status]];
  const sql = mergedByStatus('payouts.payouts', conditions, statuses, filter.pageSize);
  return { sql, params, pageSize: filter.pageSize };
}

/** Every filter but the status, each a prefix or a range of its index; few payouts have the same transaction. */
function matching(merchantId: string, filter: PayoutFilter): Conditions {
  const params: (string | Date)[] = [merchantId];
  const parameter = (value: string | Date): string => `$${params.push(value)}`;
  const conditions = ['merchant_id = $1'];
  if (filter.userId !== undefined) conditions.push(`user_id = ${parameter(filter.userId)}`);
  if (filter.transactionHash !== undefined) {
    const hash = parameter(comparableHash(filter.transactionHash));
    // The index has eight bytes of it.
    conditions.push(`hashtextextended(transaction_hash, 0) = hashtextextended(${hash}, 0)`);
    conditions.push(`transaction_hash = ${hash}`);
  }
  conditions.push(...pageConditions(filter, 'id', parameter));
  return { conditions, params };
}

/** What was seen of the transfer of a payout? Read from its stream: there is nothing to wait for. */
@Injectable()
export class EvidenceView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly receipts: Receipts,
  ) {}

  /** Throws `not_found`, and `invalid_transition` for a payout that was not received. */
  async of(merchantId: string, payoutId: string) {
    const state = await this.loop.loadForDisplay(payout, payoutId);
    if (state.status === 'unreported' || state.facts.merchant_id !== merchantId)
      throw DomainError.notFound('Payout');
    if (state.status !== 'received')
      throw new DomainError(
        'invalid_transition',
        `The payout is ${state.status}: there is no evidence of it`,
      );
    const { receipt_sha256: sha256, ...seen } = state.received;
    return {
      payout_id: payoutId,
      chain_id: seen.chain_id,
      transaction_hash: comparableHash(seen.transaction_hash),
      log_index: seen.log_index,
      block_number: seen.block_number,
      block_hash: seen.block_hash,
      block_time: seen.block_time,
      confirmations: seen.confirmations,
      token: seen.token,
      from: seen.from,
      to: seen.to,
      value: seen.value,
      created_at: state.createdAt,
      received_at: seen.received_at,
      receipt: { sha256, json: await this.receipts.find(sha256) },
    };
  }
}

/** Decimal strings of USDC (contract.md 11.1). */
export interface BalanceFigures extends Figures {
  readonly currency_code: 'USDC';
}

export const NOTHING_PAID: BalanceFigures = { ...figuresOf(0n, 0n), currency_code: 'USDC' };

/** What do a user's payouts add up to? */
@Injectable()
export class BalancesView {
  constructor(private readonly database: Database) {}

  /** Running totals, kept by the projection; null when it knows no such user of the merchant. */
  async find(merchantId: string, userId: string): Promise<BalanceFigures | null> {
    const [row] = await this.database.query<{ confirmed: string; pending: string }>(
      'select confirmed, pending from payouts.balances where user_id = $1 and merchant_id = $2',
      [userId, merchantId],
    );
    return row === undefined
      ? null
      : { ...figuresOf(BigInt(row.confirmed), BigInt(row.pending)), currency_code: 'USDC' };
  }
}
