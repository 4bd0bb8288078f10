import { Injectable } from '@nestjs/common';
import type { OperationJson } from '../../../platform/operations/operations.js';
import { Database } from '../../../platform/postgres/database.js';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { OperationRow } from './operation-row.js';

interface OperationFilter extends KeysetPage {
  readonly status?: string | undefined;
  readonly name?: string | undefined;
  readonly operatorId?: string | undefined;
  readonly subjectId?: string | undefined;
  /** Only operations on what belongs to one of these merchants; null: all. */
  readonly merchants: readonly string[] | null;
}

/** The operations of all operators. */
@Injectable()
export class OperationsView {
  constructor(
    private readonly readModels: ReadModels,
    private readonly database: Database,
  ) {}

  /** The newest first. */
  async page(filter: OperationFilter): Promise<{ operations: OperationJson[]; next_cursor: string | null }> {
    const { status, name, operatorId, subjectId, merchants } = filter;
    const query = await this.readModels.query(OperationRow, 'operation');
    if (status !== undefined) query.andWhere('operation.status = :status', { status });
    if (name !== undefined) query.andWhere('operation.name = :name', { name });
    if (operatorId !== undefined) query.andWhere('operation.operatorId = :operatorId', { operatorId });
    if (subjectId !== undefined) query.andWhere('operation.subjectId = :subjectId', { subjectId });
    if (merchants !== null)
      query.andWhere('operation.merchantId = any(:merchants::uuid[])', { merchants: [...merchants] });
    const { rows, next_cursor } = await keysetPage(query, filter, { time: 'requestedAt', id: 'id' });
    return { operations: rows.map(({ body }) => JSON.parse(body) as OperationJson), next_cursor };
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
