import { Injectable } from '@nestjs/common';
import type { SelectQueryBuilder } from 'typeorm';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { CredentialRow } from './credential-rows.js';

const CREDENTIAL_KINDS = { payouts: 'api_key', exchange: 'exchange_key', admin: 'admin_key' } as const;
export type ListedKind = keyof typeof CREDENTIAL_KINDS;

export const CREDENTIAL_STATUSES = ['pending', 'active', 'rolling', 'revoked', 'expired'] as const;
export type CredentialStatus = (typeof CREDENTIAL_STATUSES)[number];

/** What is absent does not restrict the list. */
export interface CredentialFilter extends KeysetPage {
  readonly kind?: ListedKind | undefined;
  readonly merchantId?: string | undefined;
  readonly operatorId?: string | undefined;
  readonly status?: CredentialStatus | undefined;
  /** Only those of these merchants; null: all. */
  readonly merchants: readonly string[] | null;
}

const REVOKED = '(c.revokedAt is not null or holder.revokedAt is not null)';
const EXPIRED = '(c.expiresAt <= now() or c.rollingUntil <= now()) is true';
/** Each excludes those before it, as in {@link statusOf}. */
const CONDITIONS: Readonly<Record<CredentialStatus, string>> = {
  revoked: REVOKED,
  expired: `not ${REVOKED} and (${EXPIRED})`,
  pending: `not ${REVOKED} and not (${EXPIRED}) and c.isPending`,
  rolling: `not ${REVOKED} and not (${EXPIRED}) and not c.isPending and c.rollingUntil is not null`,
  active: `not ${REVOKED} and not (${EXPIRED}) and not c.isPending and c.rollingUntil is null`,
};

export function statusOf(row: CredentialRow, now: Date): CredentialStatus {
  if (row.revokedAt !== null || row.holder.revokedAt !== null) return 'revoked';
  if ([row.expiresAt, row.rollingUntil].some((end) => end !== null && end <= now)) return 'expired';
  if (row.isPending) return 'pending';
  return row.rollingUntil === null ? 'active' : 'rolling';
}

/** Which credentials of every kind are there? */
@Injectable()
export class CredentialList {
  constructor(private readonly models: ReadModels) {}

  /** Newest first. */
  async page(
    filter: CredentialFilter,
  ): Promise<{ readonly rows: CredentialRow[]; readonly next_cursor: string | null }> {
    const query = await this.query();
    const { kind, merchantId, operatorId, status, merchants } = filter;
    if (kind !== undefined) query.andWhere('holder.kind = :kind', { kind: CREDENTIAL_KINDS[kind] });
    if (merchantId !== undefined) query.andWhere('holder.merchantId = :merchantId', { merchantId });
    if (operatorId !== undefined) query.andWhere('holder.operatorId = :operatorId', { operatorId });
    if (status !== undefined) query.andWhere(CONDITIONS[status]);
    if (merchants !== null)
      query.andWhere('holder.merchantId = any(:merchants::uuid[])', { merchants: [...merchants] });
    return keysetPage(query, filter, { time: 'issuedAt', id: 'id' });
  }

  async find(id: string): Promise<CredentialRow | null> {
    return (await this.query()).where('c.id = :id', { id }).getOne();
  }

  async findBySecret(secretHash: string): Promise<CredentialRow | null> {
    return (await this.query()).where('c.secretHash = :secretHash', { secretHash }).getOne();
  }

  private async query(): Promise<SelectQueryBuilder<CredentialRow>> {
    const query = await this.models.query(CredentialRow, 'c');
    return query.innerJoinAndSelect('c.holder', 'holder').leftJoinAndSelect('c.use', 'use');
  }
}
