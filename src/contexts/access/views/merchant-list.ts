import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';

/** A row of `access.merchants`. */
@Entity({ schema: 'access', name: 'merchants' })
export class MerchantListRow {
  @PrimaryColumn('uuid', { name: 'merchant_id' }) id!: string;
  @Column('text') name!: string;
  @Column('text') status!: 'active' | 'suspended';
  @Column('timestamptz') registeredAt!: Date;
  @Column('text', { array: true }) origins!: string[];
  @Column('text', { array: true }) callbacks!: string[];
  @Column('text') displayName!: string | null;
  @Column('text', { array: true }) ipAllowList!: string[];
  @Column('integer') requestsPerMinute!: number | null;
}

/** What is absent does not restrict the list. */
interface MerchantFilter {
  readonly status?: 'active' | 'suspended' | undefined;
  /** A part of the name, in either letter case. */
  readonly name?: string | undefined;
  readonly page: KeysetPage;
}

/** Which merchants are there, with which settings? */
@Injectable()
export class MerchantList {
  constructor(private readonly models: ReadModels) {}

  /** Newest first. `merchants`: only these; null: all. */
  async page(merchants: readonly string[] | null, { status, name, page }: MerchantFilter) {
    const query = await this.models.query(MerchantListRow, 'm');
    if (status !== undefined) query.andWhere('m.status = :status', { status });
    if (name !== undefined) query.andWhere('strpos(lower(m.name), lower(:name)) > 0', { name });
    if (merchants !== null) query.andWhere('m.id = any(:merchants::uuid[])', { merchants });
    return keysetPage(query, page, { time: 'registeredAt', id: 'id' });
  }

  async find(id: string): Promise<MerchantListRow | null> {
    return (await this.models.query(MerchantListRow, 'm')).where('m.id = :id', { id }).getOne();
  }

  /** Those of the ids that are no merchant's. */
  async unknown(ids: readonly string[]): Promise<readonly string[]> {
    const query = (await this.models.query(MerchantListRow, 'm')).where('m.id = any(:ids::uuid[])', { ids });
    const known = new Set((await query.getMany()).map(({ id }) => id));
    return ids.filter((id) => !known.has(id));
  }
}
