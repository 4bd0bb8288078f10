import { Injectable } from '@nestjs/common';
import {
  bodyPage,
  mergedByStatus,
  pageConditions,
  type BodyRows,
  type CreatedPage,
} from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import { STATUS, type Status } from './payout-changes.js';

/** Of GET /merchants/v1/payouts (contract.md 9.7). */
export interface PayoutFilter extends CreatedPage {
  readonly userId?: string;
  readonly status?: Status;
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
  async page(merchantId: string, filter: PayoutFilter): Promise<string> {
    const { bodies, last } = await bodyPage(this.database, pageRows(merchantId, filter));
    const cursor = last === null ? 'null' : `"${encodeCursor(last)}"`;
    return `{"payouts":[${bodies}],"next_cursor":${cursor}}`;
  }
}

/** Every filter is a prefix or a range of its index. */
function pageRows(merchantId: string, filter: PayoutFilter): BodyRows {
  const params: (string | Date)[] = [merchantId];
  const parameter = (value: string | Date): string => `$${params.push(value)}`;
  const conditions = ['merchant_id = $1'];
  if (filter.userId !== undefined) conditions.push(`user_id = ${parameter(filter.userId)}`);
  conditions.push(...pageConditions(filter, 'id', parameter));
  const statuses = filter.status === undefined ? Object.values(STATUS) : [STATUS[filter.status]];
  const sql = mergedByStatus('payouts.payouts', conditions, statuses, filter.pageSize);
  return { sql, params, pageSize: filter.pageSize };
}
