import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { type Role, ROLES } from '../domain/roles.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ApiProperty } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';

interface OperatorRow extends Record<string, unknown> {
  readonly operatorId: string;
  readonly name: string;
  readonly status: 'active' | 'disabled';
}

const OPERATORS = 'select operator_id as "operatorId", name, status from access.operators';

/** Which persons are there? */
@Injectable()
export class OperatorsView {
  constructor(private readonly database: Database) {}

  /** In either letter case. */
  async byEmail(email: string): Promise<OperatorRow | null> {
    const sql = `${OPERATORS} where lower(email) = lower($1)`;
    return (await this.database.query<OperatorRow>(sql, [email]))[0] ?? null;
  }

  /** Also those who are disabled. */
  async count(): Promise<number> {
    const sql = 'select count(*)::int as count from access.operators';
    return (await this.database.query<{ count: number }>(sql))[0]!.count;
  }

  /** Ids of the active administrators. */
  async administrators(): Promise<readonly string[]> {
    const sql = `${OPERATORS} where role = 'administrator' and status = 'active' order by created_at`;
    return (await this.database.query<OperatorRow>(sql)).map(({ operatorId }) => operatorId);
  }
}

export const OPERATOR_STATUSES = ['active', 'disabled'];

/** A person of the operator (admin-api.md 1), a row of `access.operators`. */
@Entity({ schema: 'access', name: 'operators' })
export class DisplayedOperator {
  @PrimaryColumn('uuid', { name: 'operator_id' }) @ApiProperty(UUID) id!: string;
  @Column('text') @ApiProperty({ type: 'string' }) name!: string;
  @Column('text') @ApiProperty({ type: 'string' }) email!: string;
  @Column('text') @ApiProperty({ type: 'string', enum: [...ROLES] }) role!: Role;
  @Column('text') @ApiProperty({ type: 'string', enum: OPERATOR_STATUSES }) status!: string;
  @Column('timestamptz') @ApiProperty(TIME) created_at!: Date;
}

/** Which persons are there? */
@Injectable()
export class OperatorsList {
  constructor(private readonly models: ReadModels) {}

  /** Newest first. */
  async page({ status, page }: { readonly status?: string | undefined; readonly page: KeysetPage }) {
    const query = await this.models.query(DisplayedOperator, 'o');
    if (status !== undefined) query.andWhere('o.status = :status', { status });
    return keysetPage(query, page, { time: 'created_at', id: 'id' });
  }

  async find(id: string): Promise<DisplayedOperator | null> {
    return (await this.models.query(DisplayedOperator, 'o')).where('o.id = :id', { id }).getOne();
  }
}
