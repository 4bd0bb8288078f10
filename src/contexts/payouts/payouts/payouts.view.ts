import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { chainRules } from '../../../platform/chain/chain-rules.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { ApiProperty, Nested } from '../../../platform/dto/field.js';
import { COUNT, USDC } from '../../../platform/dto/rules.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import {
  bodyPage,
  inDays,
  listPage,
  toStatement,
  type CreatedDays,
  type KeysetPage,
  type List,
} from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { comparableHash } from './payout-events.js';
import { payout } from './payout.js';
import { Receipts } from '../verification/receipts.store.js';
import { VERIFICATION } from '../verification/verification-queue.store.js';
import { STATUS, type Status } from './payouts-projection.view.js';

/** The filter of a list of payouts (contract.md 9.7, admin-api.md 3). */
export interface PayoutFilter extends CreatedDays, KeysetPage {
  readonly user_id?: string | undefined;
  readonly status?: Status | undefined;
  /** The hash in any form. */
  readonly transaction_hash?: string | undefined;
}

export interface PayoutJson {
  readonly id: string;
  readonly merchant_id: string;
  /** The JSON text of the merchant API. */
  readonly body: string;
}

/** The read model of payouts. A null merchant, or null merchants, match any. */
@Injectable()
export class PayoutsView {
  constructor(
    private readonly database: Database,
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
  ) {}

  async find(merchantId: string | null, id: string): Promise<PayoutJson | null> {
    const [row] = await this.database.query<PayoutJson & Record<string, unknown>>(
      `select ${COLUMNS} from payouts.payouts where id = $1 and ($2::uuid is null or merchant_id = $2)`,
      [id, merchantId],
    );
    return row ?? null;
  }

  /** Returns the running totals of a user; null when the projection has no such user of the merchant. */
  async findBalance(merchantId: string, userId: string): Promise<Balance | null> {
    const [row] = await this.database.query<{ confirmed: string; pending: string }>(
      'select confirmed, pending from payouts.balances where user_id = $1 and merchant_id = $2',
      [userId, merchantId],
    );
    return row === undefined ? null : toFigures(BigInt(row.confirmed), BigInt(row.pending));
  }

  /** Returns the JSON text of a page of a merchant, newest first. */
  async page(merchantId: string, filter: PayoutFilter, totals?: PayoutTotals): Promise<string> {
    const { bodies, next_cursor } = await bodyPage(this.database, toList([merchantId], filter), filter);
    const added = totals === undefined ? '' : `,"totals":${JSON.stringify(totals)}`;
    return `{"payouts":[${bodies}],"next_cursor":${JSON.stringify(next_cursor)}${added}}`;
  }

  rows(merchants: readonly string[] | null, filter: PayoutFilter) {
    return listPage<PayoutJson>(this.database, { columns: COLUMNS, ...toList(merchants, filter) }, filter);
  }

  /** Returns a page of overdue payouts, by the table of pending ones. */
  async overdueRows(merchants: readonly string[] | null, filter: PayoutFilter) {
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
    // The tables differ: each follows the log separately.
    const pending = await this.database.query<PayoutJson & Record<string, unknown>>(
      `select ${COLUMNS} from payouts.payouts where id = any($1) and status = ${STATUS.pending}
       order by created_at desc, id desc`,
      [rows.map(({ id }) => id)],
    );
    return { rows: pending, next_cursor };
  }

  /** Finds payouts by id or transaction hash. */
  @Searches('payouts:read')
  async search({ text, uuid, merchants, limit }: SearchQuery): Promise<readonly Found[]> {
    const byId = uuid === null ? null : await this.find(null, uuid);
    const byHash = await this.rows(merchants, { transaction_hash: text, page_size: limit });
    return [...(byId === null ? [] : [byId]), ...byHash.rows].map(({ id, merchant_id, body }) => {
      const { amount, currency_code, status } = JSON.parse(body) as Readonly<Record<string, string>>;
      return { kind: 'payout', id, merchant_id, title: `${amount} ${currency_code}, ${status}` };
    });
  }

  /** Sums all matching payouts, at a cost that grows with the list. */
  async totals(merchantId: string, filter: PayoutFilter): Promise<PayoutTotals> {
    const list = { columns: 'body', ...toList([merchantId], filter) };
    const { matching, params } = toStatement(list, { page_size: 0 });
    const rows = await this.database.query<{ status: number; count: string; amount: string }>(
      `select status, count(*), sum(amount_minor) as amount from payouts.payouts where ${matching} group by status`,
      params,
    );
    const of = (status: Status): PayoutTotal => {
      const row = rows.find((each) => each.status === STATUS[status]);
      return { count: Number(row?.count ?? 0), amount: fromMinorUnits(BigInt(row?.amount ?? 0)) };
    };
    return { pending: of('pending'), received: of('received'), expired: of('expired') };
  }

  /** Yields the JSON of all matching payouts, `page_size` at a time. */
  async *bodies(merchantId: string, filter: PayoutFilter): AsyncGenerator<readonly string[]> {
    let { page_cursor } = filter;
    do {
      const { rows, next_cursor } = await this.rows([merchantId], { ...filter, page_cursor });
      page_cursor = next_cursor === null ? undefined : decodeCursor(next_cursor)!;
      yield rows.map(({ body }) => body);
    } while (page_cursor !== undefined);
  }
}

const COLUMNS = 'id, merchant_id, body';

/** Returns the list for a filter, in a form that uses an index. A transaction has few payouts. */
function toList(merchants: readonly string[] | null, filter: PayoutFilter): Omit<List, 'columns'> {
  const { user_id, status, transaction_hash, created_from, created_to } = filter;
  const created = inDays('created_at', created_from, created_to);
  const statuses = status === undefined ? Object.values(STATUS) : [STATUS[status]];
  const from = 'payouts.payouts';
  if (transaction_hash === undefined && user_id === undefined)
    return {
      from,
      where: created,
      statuses,
      lanes: { column: 'merchant_id', type: 'uuid', values: merchants },
    };
  const where = { ...created, 'merchant_id = any(?)': merchants };
  if (transaction_hash === undefined)
    return { from, where, statuses, lanes: { column: 'user_id', type: 'uuid', values: [user_id!] } };
  // The index is over a 64-bit digest of the hash.
  const hash = 'hashtextextended(transaction_hash, 0) = hashtextextended(?, 0) and transaction_hash = ?';
  const state = { 'status = ?': status && STATUS[status], 'user_id = ?': user_id };
  return { from, where: { ...where, ...state, [hash]: comparableHash(transaction_hash) } };
}

/** The delay of a due check that indicates a missing worker or unreliable nodes. */
const CHECK_LATE_SECONDS = 60;
/** The longest time without a usable response about one transaction. */
const NO_RESPONSE_SECONDS = 600;
/** The longest time to an outcome after the window and the two checks that let a payout expire. */
const OUTCOME_LATE_SECONDS = 600;

/** Pending payouts, with the item that schedules their checks. */
export const PENDING_PAYOUTS = `payouts.verifications pending
  join work.items item on item.kind = '${VERIFICATION}' and item.key = pending.payout_id::text`;

/**
 * A condition on {@link PENDING_PAYOUTS}: the payout stays pending until an operator acts. Its chain is not CHAIN_ID,
 * its check is late, its window is over, or no node responds about its transaction. A check is late while no process
 * begins it, or no node can be relied on. `due` of the state is the scheduled time of the check, because `due_at`
 * moves with each attempt.
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

class PayoutTotal {
  @ApiProperty(COUNT) count!: number;
  @ApiProperty({ ...USDC, description: 'Sum of their amounts.' }) amount!: string;
}

export class PayoutTotals implements Readonly<Record<Status, PayoutTotal>> {
  @Nested(() => PayoutTotal) pending!: PayoutTotal;
  @Nested(() => PayoutTotal) received!: PayoutTotal;
  @Nested(() => PayoutTotal) expired!: PayoutTotal;
}

/** The evidence of received payouts, read from their streams, because a view may lag. */
@Injectable()
export class EvidenceView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly receipts: Receipts,
  ) {}

  /** Throws `not_found`, and `invalid_transition` for a payout that was not received. */
  async of(merchantId: string, payoutId: string) {
    const state = await this.loop.loadForDisplay(payout, payoutId);
    if (state.status === 'unreported' || state.reported.merchant_id !== merchantId)
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
      created_at: state.reported.created_at,
      received_at: seen.received_at,
      receipt: { sha256, json: await this.receipts.find(sha256) },
    };
  }
}

/** The sums of a user's payouts, in decimals of USDC (contract.md 11.1). */
export class Balance {
  @ApiProperty({ ...USDC, description: 'Sum of received payouts.' }) confirmed!: string;
  @ApiProperty({ ...USDC, description: 'Sum of pending payouts.' }) pending!: string;
  @ApiProperty({ ...USDC, description: 'confirmed + pending.' }) committed!: string;
  @ApiProperty({ const: 'USDC' }) currency_code!: 'USDC';
}

export const NOTHING_PAID: Balance = toFigures(0n, 0n);

function toFigures(confirmed: bigint, pending: bigint): Balance {
  return {
    confirmed: fromMinorUnits(confirmed),
    pending: fromMinorUnits(pending),
    committed: fromMinorUnits(confirmed + pending),
    currency_code: 'USDC',
  };
}
