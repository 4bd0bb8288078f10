import { Injectable } from '@nestjs/common';
import type { OperationJson } from '../../../platform/operations/operations.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';

interface OperationFilter extends KeysetPage {
  readonly status?: string | undefined;
  readonly name?: string | undefined;
  readonly operator_id?: string | undefined;
  readonly subject_id?: string | undefined;
}

/** The operations of all operators. */
@Injectable()
export class OperationsView {
  constructor(private readonly database: Database) {}

  /** The newest first. `merchants`: only operations on what belongs to one of these; null: all. */
  async page(
    merchants: readonly string[] | null,
    filter: OperationFilter,
  ): Promise<{ operations: OperationJson[]; next_cursor: string | null }> {
    const where = {
      'status = ?': filter.status,
      'name = ?': filter.name,
      'operator_id = ?': filter.operator_id,
      'subject_id = ?': filter.subject_id,
      'merchant_id = any(?)': merchants,
    };
    const list = { columns: 'body', from: 'operations.operations', time: 'requested_at', where };
    const { rows, next_cursor } = await listPage<{ body: string }>(this.database, list, filter);
    return { operations: rows.map(({ body }) => JSON.parse(body) as OperationJson), next_cursor };
  }

  @Searches('operations:read')
  async search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    if (uuid === null) return [];
    return this.database.query<Found & Record<string, unknown>>(
      `select 'operation' as kind, id::text as id, merchant_id, name || ', ' || status as title
       from operations.operations where id = $1`,
      [uuid],
    );
  }

  /** How many wait for an approval, and how many confirmations are overdue. */
  async counts(): Promise<{ readonly pending: number; readonly overdue: number }> {
    const [row] = await this.database.query<{ pending: number; overdue: number }>(
      `select (count(*) filter (where status = 'pending_approval'))::int as pending,
         (count(*) filter (where status = 'unconfirmed' and expires_at <= now()))::int as overdue
       from operations.operations where status in ('pending_approval', 'unconfirmed')`,
    );
    return row!;
  }
}
