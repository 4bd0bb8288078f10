import { Injectable } from '@nestjs/common';
import {
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  type SelectQueryBuilder,
} from 'typeorm';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { GroupCall } from '../../../platform/jobs/group-call.js';
import { Database } from '../../../platform/postgres/database.js';
import type { CredentialKind, MemoSigning } from '../domain/credential-kinds.js';
import { MerchantListRow } from './merchant-list.js';

/** When a credential was last used; a row of `access.credential_uses`. */
@Entity({ schema: 'access', name: 'credential_uses' })
export class CredentialUseRow {
  @PrimaryColumn('uuid') credential_id!: string;
  @Column('timestamptz') last_used_at!: Date;
}

/** A credential as operators list it; a row of `access.credentials`. */
@Entity({ schema: 'access', name: 'credentials' })
export class CredentialRow {
  @PrimaryColumn('uuid', { name: 'credential_id' }) id!: string;
  @OneToOne(() => CredentialUseRow)
  @JoinColumn({ name: 'credential_id' })
  use!: CredentialUseRow | null;

  @ManyToOne(() => MerchantListRow)
  @JoinColumn({ name: 'merchant_id' })
  merchant!: MerchantListRow | null;

  @Column('uuid') owner_id!: string;
  @Column('text') kind!: CredentialKind;
  @Column('uuid') key_id!: string;
  @Column('uuid') merchant_id!: string | null;
  @Column('uuid') operator_id!: string | null;
  @Column('text') name!: string | null;
  @Column('text', { array: true }) scopes!: string[];
  @Column('uuid', { array: true }) merchants!: string[] | null;
  @Column('text', { array: true }) addresses!: string[];
  @Column('text', { array: true }) withdraw_addresses!: string[] | null;
  @Column('boolean') demands_signing!: boolean | null;
  @Column('text') memo_signing!: MemoSigning | null;
  @Column('text', { select: false }) secret_hash!: string;
  @Column('boolean') is_pending!: boolean;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date | null;
  @Column('timestamptz') rolling_until!: Date | null;
  @Column('timestamptz') revoked_at!: Date | null;
}

export const CREDENTIAL_STATUSES = ['pending', 'active', 'rolling', 'revoked', 'expired'] as const;
export type CredentialStatus = (typeof CREDENTIAL_STATUSES)[number];

/** What is absent does not restrict the list. */
export interface CredentialFilter {
  readonly kind?: CredentialKind | undefined;
  readonly merchant_id?: string | undefined;
  readonly operator_id?: string | undefined;
  readonly status?: CredentialStatus | undefined;
  readonly page: KeysetPage;
}

const REVOKED = 'c.revoked_at is not null';
const EXPIRED = '(c.expires_at <= now() or c.rolling_until <= now()) is true';

/** Each excludes those before it, as in {@link credentialStatus}. */
const CONDITIONS: Readonly<Record<CredentialStatus, string>> = {
  revoked: REVOKED,
  expired: `not ${REVOKED} and (${EXPIRED})`,
  pending: `not ${REVOKED} and not (${EXPIRED}) and c.is_pending`,
  rolling: `not ${REVOKED} and not (${EXPIRED}) and not c.is_pending and c.rolling_until is not null`,
  active: `not ${REVOKED} and not (${EXPIRED}) and not c.is_pending and c.rolling_until is null`,
};

export function credentialStatus(row: CredentialRow, now: Date): CredentialStatus {
  if (row.revoked_at !== null) return 'revoked';
  if ([row.expires_at, row.rolling_until].some((end) => end !== null && end <= now)) return 'expired';
  if (row.is_pending) return 'pending';
  return row.rolling_until === null ? 'active' : 'rolling';
}

/** Which credentials of every kind are there? */
@Injectable()
export class CredentialList {
  constructor(private readonly models: ReadModels) {}

  /** Newest first. `merchants`: only those of these; null: all. */
  async page(merchants: readonly string[] | null, { page, status, ...filter }: CredentialFilter) {
    const query = await this.query();
    for (const name of ['kind', 'merchant_id', 'operator_id'] as const)
      if (filter[name] !== undefined) query.andWhere(`c.${name} = :${name}`, { [name]: filter[name] });
    if (status !== undefined) query.andWhere(CONDITIONS[status]);
    if (merchants !== null) query.andWhere('c.merchant_id = any(:merchants::uuid[])', { merchants });
    return keysetPage(query, page, { time: 'created_at', id: 'id' });
  }

  async find(id: string): Promise<CredentialRow | null> {
    return (await this.query()).where('c.id = :id', { id }).getOne();
  }

  async findBySecret(secretHash: string): Promise<CredentialRow | null> {
    return (await this.query()).where('c.secret_hash = :secretHash', { secretHash }).getOne();
  }

  private async query(): Promise<SelectQueryBuilder<CredentialRow>> {
    const query = await this.models.query(CredentialRow, 'c');
    return query.leftJoinAndSelect('c.merchant', 'merchant').leftJoinAndSelect('c.use', 'use');
  }
}

/** Sealed, of one kind, while they are not revoked. */
export const sealedSecrets = (kind: CredentialKind): string =>
  `select sealed_secret as sealed from access.credentials where kind = '${kind}' and revoked_at is null`;

/** One that is rolling counts if no other credential of its key remains. */
const NEXT_EXPIRIES = `select c.kind, min(least(c.expires_at, c.rolling_until)) as "expiresAt"
  from access.credentials c
  where least(c.expires_at, c.rolling_until) > now() - interval '1 day' and not c.is_pending and c.revoked_at is null
    and (c.rolling_until is null or not exists (select from access.credentials other
      where other.key_id = c.key_id and other.rolling_until is null and other.revoked_at is null
        and not other.is_pending and coalesce(other.expires_at > now(), true)))
  group by c.kind`;

/** Several: a read that hangs delays a part of the merchants. */
const READ_LANES = 8;

/** Leads from what a caller names to the owner of a credential, whose events say everything else. Ids must be uuids. */
@Injectable()
export class CredentialIndex {
  /** Strangers may name any id, and deliveries a thousand merchants: one query for many. */
  private readonly merchantReads = Array.from(
    { length: READ_LANES },
    () => new GroupCall((ids: readonly string[]) => this.findMerchants(ids)),
  );

  constructor(private readonly database: Database) {}

  /** Returns true for a registered merchant. */
  isMerchant(id: string): Promise<boolean> {
    return this.merchantReads[parseInt(id.slice(-2), 16) % READ_LANES]!.call(id);
  }

  /** The merchant of an exchange key. */
  ownerOfKey(keyId: string): Promise<string | null> {
    return this.id(
      `select owner_id as id from access.credentials where key_id = $1 and kind = 'exchange'`,
      keyId,
    );
  }

  ownerOfSecret(secretHash: string): Promise<string | null> {
    return this.id('select owner_id as id from access.credentials where secret_hash = $1', secretHash);
  }

  /** The exchange key of a credential; any other id counts as the key's. */
  async exchangeKeyOf(credentialId: string): Promise<string> {
    const sql = 'select key_id as id from access.credentials where credential_id = $1';
    return (await this.id(sql, credentialId)) ?? credentialId;
  }

  /** By kind, of those that were neither rolled nor revoked: the next that expires, or one that did within a day. */
  nextExpiries(): Promise<{ kind: CredentialKind; expiresAt: Date }[]> {
    return this.database.query(NEXT_EXPIRIES);
  }

  private async findMerchants(ids: readonly string[]): Promise<boolean[]> {
    const sql = 'select merchant_id as id from access.merchants where merchant_id = any($1)';
    const found = new Set((await this.database.query<{ id: string }>(sql, [ids])).map(({ id }) => id));
    return ids.map((id) => found.has(id));
  }

  private async id(sql: string, value: string): Promise<string | null> {
    return (await this.database.query<{ id: string }>(sql, [value]))[0]?.id ?? null;
  }
}
