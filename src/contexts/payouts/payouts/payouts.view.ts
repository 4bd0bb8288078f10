import { Injectable } from '@nestjs/common';
import { fromMinorUnits } from '../../../kernel/money.js';
import { ApiProperty, Nested } from '../../../platform/dto/field.js';
import { COUNT, USDC } from '../../../platform/dto/rules.js';
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
import { comparableHash, STATUS, type Status } from './payout-events.js';

/** The filter of a list of payouts (contract.md 9.7, admin-api.md 3). */
export interface PayoutFilter extends CreatedDays, KeysetPage {
  readonly user_id?: string | undefined;
  readonly status?: Status | undefined;
  /** The transaction hash as the client sent it, not normalised. */
  readonly transaction_hash?: string | undefined;
}

export interface PayoutJson {
  readonly id: string;
  readonly merchant_id: string;
  /** The JSON text of the payout in the merchant API. */
  readonly body: string;
}

/** The read model of payouts. A merchant id or a list of merchants that is null selects all merchants. */
@Injectable()
export class PayoutsView {
  constructor(private readonly database: Database) {}

  async find(merchantId: string | null, id: string): Promise<PayoutJson | null> {
    const [row] = await this.database.query<PayoutJson & Record<string, unknown>>(
      `select ${PAYOUT_COLUMNS} from payouts.payouts where id = $1 and ($2::uuid is null or merchant_id = $2)`,
      [id, merchantId],
    );
    return row ?? null;
  }

  /** Returns the balance of a user; null if the merchant has no such user in the projection. */
  async findBalance(merchantId: string, userId: string): Promise<Balance | null> {
    const [row] = await this.database.query<{ confirmed: string; pending: string }>(
      'select confirmed, pending from payouts.balances where user_id = $1 and merchant_id = $2',
      [userId, merchantId],
    );
    return row === undefined ? null : toFigures(BigInt(row.confirmed), BigInt(row.pending));
  }

  async page(merchantId: string, filter: PayoutFilter, totals?: PayoutTotals): Promise<string> {
    const { bodies, next_cursor } = await bodyPage(this.database, toList([merchantId], filter), filter);
    const added = totals === undefined ? '' : `,"totals":${JSON.stringify(totals)}`;
    return `{"payouts":[${bodies}],"next_cursor":${JSON.stringify(next_cursor)}${added}}`;
  }

  rows(merchants: readonly string[] | null, filter: PayoutFilter) {
    return listPage<PayoutJson>(
      this.database,
      { columns: PAYOUT_COLUMNS, ...toList(merchants, filter) },
      filter,
    );
  }

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

  async *bodies(merchantId: string, filter: PayoutFilter): AsyncGenerator<readonly string[]> {
    let { page_cursor } = filter;
    do {
      const { rows, next_cursor } = await this.rows([merchantId], { ...filter, page_cursor });
      page_cursor = next_cursor === null ? undefined : decodeCursor(next_cursor)!;
      yield rows.map(({ body }) => body);
    } while (page_cursor !== undefined);
  }
}

export const PAYOUT_COLUMNS = 'id, merchant_id, body';

/** Builds a list that uses an index. A filter by transaction needs no lanes, because few payouts match. */
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

class PayoutTotal {
  @ApiProperty(COUNT) count!: number;
  @ApiProperty({ ...USDC, description: 'Sum of their amounts.' }) amount!: string;
}

export class PayoutTotals implements Readonly<Record<Status, PayoutTotal>> {
  @Nested(() => PayoutTotal) pending!: PayoutTotal;
  @Nested(() => PayoutTotal) received!: PayoutTotal;
  @Nested(() => PayoutTotal) expired!: PayoutTotal;
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
