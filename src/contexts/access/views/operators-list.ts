import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ApiProperty } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { ROLES, type Role } from '../domain/roles.js';

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
