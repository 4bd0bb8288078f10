import { Inject, Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn, type SelectQueryBuilder } from 'typeorm';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { pageConditions, type CreatedPage } from '../../../platform/postgres/list-page.js';
import { withinRanges, type RangedColumn } from '../../../platform/read-models/ranged-ids.js';
import { keysetPage, ReadModels } from '../../../platform/read-models/read-models.js';
import { comparableHash } from '../domain/payout-events.js';
import { overdueReason, PENDING_PAYOUTS } from './overdue-payouts.js';
import { STATUS, type Status } from './payout-changes.js';

/** A row of `payouts.payouts`, for lists that operators and merchants' people browse. */
@Entity({ schema: 'payouts', name: 'payouts' })
export class ListedPayoutRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') merchantId!: string;
  @Column('uuid') userId!: string;

  /** By the numbers of `STATUS`. */
  @Column('smallint') status!: number;
  @Column('timestamptz') createdAt!: Date;

  /** In the form in which hashes are compared. */
  @Column('text') transactionHash!: string;

  /** The payout as the merchant API returns it. */
  @Column('text') body!: string;
}

export interface PayoutsFilter extends Omit<CreatedPage, 'pageSize' | 'after'> {
  readonly userId?: string | undefined;
  readonly status?: Status | undefined;
  /** As a merchant, or a block explorer, writes it. */
  readonly transactionHash?: string | undefined;
  /** Only those that are pending and overdue (overdue-payouts.ts). */
  readonly isOverdue?: boolean;
}

export interface PayoutsPage {
  /** Null: of all merchants. */
  readonly merchants: readonly string[] | null;
  readonly filter: PayoutsFilter;
  readonly page: Pick<CreatedPage, 'pageSize' | 'after'>;
}

/** A payout as the merchant API returns it: JSON text. */
export interface ListedPayout {
  readonly id: string;
  readonly merchantId: string;
  readonly json: string;
}

/** Which payouts are there, of one merchant, of some or of all? For people; `PayoutsView` is for the merchant API. */
@Injectable()
export class PayoutsList {
  constructor(
    private readonly readModels: ReadModels,
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
  ) {}

  async find(id: string): Promise<ListedPayout | null> {
    const query = await this.readModels.query(ListedPayoutRow, 'payout');
    const row = await query.where('payout.id = :id', { id }).getOne();
    return row === null ? null : listed(row);
  }

  /** One page, newest first. */
  async page({ merchants, filter, page }: PayoutsPage) {
    const query = await this.readModels.query(ListedPayoutRow, 'payout');
    const parameters: Record<string, unknown> = {};
    const parameter = (value: unknown): string => {
      const name = `given${Object.keys(parameters).length}`;
      parameters[name] = value;
      return `:${name}`;
    };
    const { userId, status, transactionHash, isOverdue = false } = filter;
    const ofMerchants = merchants === null ? [] : [`merchant_id = any(${parameter(merchants)}::uuid[])`];
    const ofUser = userId === undefined ? [] : [`user_id = ${parameter(userId)}::uuid`];
    const hash = transactionHash === undefined ? null : parameter(comparableHash(transactionHash));
    const created = pageConditions({ ...filter, ...page }, isOverdue ? 'payout_id' : 'id', parameter);
    if (isOverdue) {
      const conditions = [...ofMerchants, ...ofUser, ...created];
      if (hash !== null) conditions.push(`hash = ${hash}`);
      if (status !== undefined && status !== 'pending') conditions.push('false');
      this.overdueOnly(query, conditions, page.pageSize);
    } else if (hash !== null) {
      const conditions = [...ofMerchants, ...ofUser, ...created, `transaction_hash = ${hash}`];
      conditions.push(`hashtextextended(transaction_hash, 0) = hashtextextended(${hash}, 0)`);
      if (status !== undefined) conditions.push(`status = ${STATUS[status]}`);
      query.andWhere(`payout.id in (select id from payouts.payouts where ${conditions.join(' and ')})`);
    } else {
      const statuses = status === undefined ? Object.values(STATUS) : [STATUS[status]];
      const columns: RangedColumn[] = [{ column: 'status', type: 'smallint', values: statuses }];
      if (userId !== undefined) columns.unshift({ column: 'user_id', type: 'uuid', values: [userId] });
      else if (merchants !== null)
        columns.unshift({ column: 'merchant_id', type: 'uuid', values: merchants });
      const conditions = [...created, ...(userId === undefined ? [] : ofMerchants)];
      withinRanges(query, { table: 'payouts.payouts', columns, conditions }, page);
    }
    query.setParameters(parameters);
    const { rows, next_cursor } = await keysetPage(query, page, { time: 'createdAt', id: 'id' });
    return { payouts: rows.map(listed), next_cursor };
  }

  /** Payouts by their id, or by the hash of their transaction. */
  @Searches('payouts:read')
  async search({ text, uuid, merchants, limit }: SearchQuery): Promise<readonly Found[]> {
    const byId = uuid === null ? null : await this.find(uuid);
    const filter = { transactionHash: text };
    const byHash = await this.page({ merchants, filter, page: { pageSize: limit } });
    return [...(byId === null ? [] : [byId]), ...byHash.payouts].map(({ id, merchantId, json }) => {
      const { amount, currency_code, status } = JSON.parse(json) as Readonly<Record<string, string>>;
      return { kind: 'payout', id, merchant_id: merchantId, title: `${amount} ${currency_code}, ${status}` };
    });
  }

  /** Pending payouts are few: their own table has what the filters need. */
  private overdueOnly(
    query: SelectQueryBuilder<ListedPayoutRow>,
    conditions: readonly string[],
    pageSize: number,
  ): void {
    const overdue = [...conditions, `(${overdueReason(this.config)}) is not null`].join(' and ');
    query.andWhere(
      `payout.id in (select payout_id from ${PENDING_PAYOUTS} where ${overdue}
         order by created_at desc, payout_id desc limit ${pageSize + 1})`,
    );
    // The rows and the work follow the log separately.
    query.andWhere(`payout.status = ${STATUS.pending}`);
  }
}

function listed({ id, merchantId, body: json }: ListedPayoutRow): ListedPayout {
  return { id, merchantId, json };
}
