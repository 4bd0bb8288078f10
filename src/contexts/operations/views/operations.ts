import { Injectable } from '@nestjs/common';
import { Periodic } from '../../../platform/jobs/background-work.js';
import type { OperationJson } from '../../../platform/operations/operations.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { overdueConfirmations, pendingApprovals } from '../metrics.js';
import { OperationRow } from './operation-row.js';

interface OperationFilter {
  readonly status?: string | undefined;
  readonly name?: string | undefined;
  readonly operator_id?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly page: KeysetPage;
}

/** The operations of all operators. */
@Injectable()
export class OperationsView {
  constructor(
    private readonly readModels: ReadModels,
    private readonly database: Database,
  ) {}

  /** The newest first. `merchants`: only operations on what belongs to one of these; null: all. */
  async page(
    merchants: readonly string[] | null,
    { status, name, operator_id, subject_id, page }: OperationFilter,
  ): Promise<{ operations: OperationJson[]; next_cursor: string | null }> {
    const query = await this.readModels.query(OperationRow, 'operation');
    if (status !== undefined) query.andWhere('operation.status = :status', { status });
    if (name !== undefined) query.andWhere('operation.name = :name', { name });
    if (operator_id !== undefined) query.andWhere('operation.operatorId = :operator_id', { operator_id });
    if (subject_id !== undefined) query.andWhere('operation.subjectId = :subject_id', { subject_id });
    if (merchants !== null) query.andWhere('operation.merchantId = any(:merchants::uuid[])', { merchants });
    const { rows, next_cursor } = await keysetPage(query, page, { time: 'requestedAt', id: 'id' });
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

  /** Measures what waits for second persons. */
  @Periodic({ name: 'gauge of operations', everyMs: 10_000 })
  async measure(): Promise<void> {
    const [row] = await this.database.query<{ pending: number; overdue: number }>(
      `select (count(*) filter (where status = 'pending_approval'))::int as pending,
         (count(*) filter (where status = 'unconfirmed' and expires_at <= now()))::int as overdue
       from operations.operations where status in ('pending_approval', 'unconfirmed')`,
    );
    pendingApprovals.set(row!.pending);
    overdueConfirmations.set(row!.overdue);
  }
}
