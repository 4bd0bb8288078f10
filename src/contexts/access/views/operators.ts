import { Injectable } from '@nestjs/common';
import { ApiProperty } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type Conditions, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { type Role, ROLES } from '../domain/roles.js';

export const OPERATOR_STATUSES = ['active', 'disabled'];

/** A person of the operator (admin-api.md 1), a row of `access.operators`. */
export class DisplayedOperator {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string' }) email!: string;
  @ApiProperty({ type: 'string', enum: [...ROLES] }) role!: Role;
  @ApiProperty({ type: 'string', enum: OPERATOR_STATUSES }) status!: string;
  @ApiProperty(TIME) created_at!: Date;
}

/** The persons who operate the service. */
@Injectable()
export class OperatorsView {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  page({ status, ...page }: KeysetPage & { readonly status?: string | undefined }) {
    return this.read({ 'status = ?': status }, page);
  }

  /** `id` must be a uuid. */
  async find(id: string): Promise<DisplayedOperator | null> {
    return (await this.read({ 'operator_id = ?': id })).rows[0] ?? null;
  }

  /** In either letter case. */
  async byEmail(email: string): Promise<DisplayedOperator | null> {
    return (await this.read({ 'lower(email) = lower(?)': email })).rows[0] ?? null;
  }

  /** Also those who are disabled. */
  async count(): Promise<number> {
    const sql = 'select count(*)::int as count from access.operators';
    return (await this.database.query<{ count: number }>(sql))[0]!.count;
  }

  /** Ids of the active administrators. */
  async administrators(): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select operator_id as id from access.operators where role = 'administrator' and status = 'active'
       order by created_at`,
    );
    return rows.map(({ id }) => id);
  }

  private read(where: Conditions, page: KeysetPage = { page_size: 1 }) {
    const columns = 'operator_id as id, name, email, role, status, created_at';
    const list = { columns, from: 'access.operators', id: 'operator_id', where };
    return listPage<DisplayedOperator>(this.database, list, page);
  }
}
