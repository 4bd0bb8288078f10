import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import type { Role } from '../domain/roles.js';

/** A row of `access.operators`. */
@Entity({ schema: 'access', name: 'operators', synchronize: false })
export class OperatorListRow {
  @PrimaryColumn('uuid', { name: 'operator_id' })
  id!: string;

  @Column('text')
  name!: string;

  @Column('text')
  email!: string;

  @Column('text')
  role!: Role;

  @Column('text')
  status!: 'active' | 'disabled';

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;
}

/** Which persons are there? */
@Injectable()
export class OperatorList {
  constructor(private readonly models: ReadModels) {}

  /** Newest first. */
  async page(
    filter: KeysetPage & { readonly status?: string | undefined },
  ): Promise<{ readonly rows: OperatorListRow[]; readonly next_cursor: string | null }> {
    const query = await this.models.query(OperatorListRow, 'o');
    if (filter.status !== undefined) query.andWhere('o.status = :status', { status: filter.status });
    return keysetPage(query, filter, { time: 'createdAt', id: 'id' });
  }

  async find(id: string): Promise<OperatorListRow | null> {
    return (await this.models.query(OperatorListRow, 'o')).where('o.id = :id', { id }).getOne();
  }
}
