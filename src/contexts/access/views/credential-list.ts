import { Injectable } from '@nestjs/common';
import type { SelectQueryBuilder } from 'typeorm';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { CredentialRow } from './credential-rows.js';

const CREDENTIAL_KINDS = { payouts: 'api_key', exchange: 'exchange_key', admin: 'admin_key' } as const;
export type ListedKind = keyof typeof CREDENTIAL_KINDS;

export const CREDENTIAL_STATUSES = ['pending', 'active', 'rolling', 'revoked', 'expired'] as const;
export type CredentialStatus = (typeof CREDENTIAL_STATUSES)[number];

/** What is absent does not restrict the list. */
export interface CredentialFilter {
  readonly kind?: ListedKind | undefined;
  readonly merchant_id?: string | undefined;
  readonly operator_id?: string | undefined;
  readonly status?: CredentialStatus | undefined;
  readonly page: KeysetPage;
}

const REVOKED = '(c.revokedAt is not null or holder.revokedAt is not null)';
const EXPIRED = '(c.expiresAt <= now() or c.rollingUntil <= now()) is true';
/** Each excludes those before it, as in {@link credentialStatus}. */
const CONDITIONS: Readonly<Record<CredentialStatus, string>> = {
  revoked: REVOKED,
  expired: `not ${REVOKED} and (${EXPIRED})`,
  pending: `not ${REVOKED} and not (${EXPIRED}) and c.isPending`,
  rolling: `not ${REVOKED} and not (${EXPIRED}) and not c.isPending and c.rollingUntil is not null`,
  active: `not ${REVOKED} and not (${EXPIRED}) and not c.isPending and c.rollingUntil is null`,
};

export function credentialStatus(row: CredentialRow, now: Date): CredentialStatus {
  if (row.revokedAt !== null || row.holder.revokedAt !== null) return 'revoked';
  if ([row.expiresAt, row.rollingUntil].some((end) => end !== null && end <= now)) return 'expired';
  if (row.isPending) return 'pending';
  return row.rollingUntil === null ? 'active' : 'rolling';
}

/** Which credentials of every kind are there? */
@Injectable()
export class CredentialList {
  constructor(private readonly models: ReadModels) {}

  /** Newest first. `merchants`: only those of these; null: all. */
  async page(merchants: readonly string[] | null, filter: CredentialFilter) {
    const query = await this.query();
    const { kind, merchant_id, operator_id, status, page } = filter;
    if (kind !== undefined) query.andWhere('holder.kind = :kind', { kind: CREDENTIAL_KINDS[kind] });
    if (merchant_id !== undefined) query.andWhere('holder.merchantId = :merchant_id', { merchant_id });
    if (operator_id !== undefined) query.andWhere('holder.operatorId = :operator_id', { operator_id });
    if (status !== undefined) query.andWhere(CONDITIONS[status]);
    if (merchants !== null) query.andWhere('holder.merchantId = any(:merchants::uuid[])', { merchants });
    return keysetPage(query, page, { time: 'issuedAt', id: 'id' });
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
