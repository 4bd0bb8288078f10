import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DomainError } from '../../../kernel/domain-error.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { registers } from '../../../platform/telemetry/metrics.js';
import { GroupCall } from '../../../platform/jobs/group-call.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { nullable, oneOf, STRINGS, TEXT, TIME, uuid, UUID } from '../../../platform/dto/rules.js';
import { Filter, ListParameters } from '../../../platform/http/list-query.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type Conditions, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DIRECTORY_VIEW } from '../merchants/directory.view.js';
import { CREDENTIAL_KINDS, MEMO_SIGNING, type CredentialKind } from './credential-kinds.js';

const CREDENTIAL_STATUSES = ['pending', 'active', 'rolling', 'revoked', 'expired'] as const;
type CredentialStatus = (typeof CREDENTIAL_STATUSES)[number];

export class AdminCredential {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string', enum: CREDENTIAL_KINDS }) kind!: CredentialKind;
  @ApiProperty(nullable(TEXT)) name!: string | null;
  @ApiProperty(nullable(UUID)) merchant_id!: string | null;
  @ApiProperty(nullable(UUID, 'Of kind admin.')) operator_id!: string | null;
  @ApiProperty(nullable({ type: 'array', items: UUID }, 'Null: all.')) merchants!: readonly string[] | null;
  @ApiProperty({ ...STRINGS, description: 'Empty but for kind admin.' }) scopes!: readonly string[];
  @ApiProperty({ ...STRINGS, description: 'Network ranges; empty: from anywhere.' })
  addresses!: readonly string[];

  @ApiProperty(nullable(STRINGS, 'Of kind exchange; empty: any.'))
  withdraw_addresses!: readonly string[] | null;

  @ApiProperty(nullable({ type: 'boolean' }, 'Of kind exchange.')) demands_signing!: boolean | null;
  @ApiProperty(nullable({ ...TEXT, enum: [...MEMO_SIGNING, null] }, 'Of kind exchange.'))
  memo_signing!: string | null;

  @ApiProperty(nullable(UUID, 'The public part of a key of the exchange.')) api_key!: string | null;
  @ApiProperty(nullable(TIME)) expires_at!: Date | null;
  @ApiProperty(nullable(TIME)) last_used_at!: Date | null;
  @ApiProperty({ type: 'string', enum: [...CREDENTIAL_STATUSES] }) status!: CredentialStatus;
  @ApiProperty(TIME) created_at!: Date;
}

export class CredentialsQuery extends ListParameters {
  @Filter(oneOf(CREDENTIAL_KINDS), 'Only those of this kind.') kind?: CredentialKind;
  @Filter(uuid, 'Only those of this merchant.') merchant_id?: string;
  @Filter(uuid, 'Only those of this operator.') operator_id?: string;
  @Filter(oneOf(CREDENTIAL_STATUSES), 'Only those of this status.') status?: CredentialStatus;
}

const STATUS = `case when c.revoked_at is not null then 'revoked'
  when c.expires_at <= now() or c.rolling_until <= now() then 'expired'
  when c.is_pending then 'pending' when c.rolling_until is not null then 'rolling' else 'active' end`;

/** The columns of AdminCredential. A payouts key has the address list of its merchant. */
const COLUMNS = `c.credential_id as id, c.kind, c.name, c.merchant_id,
  case when c.kind = 'admin' then c.owner_id end as operator_id, c.merchants, c.scopes,
  case when c.kind = 'payouts' then coalesce(m.ip_allow_list, '{}') else c.addresses end as addresses,
  c.withdraw_addresses, c.demands_signing, c.memo_signing, case when c.kind = 'exchange' then c.key_id end as api_key,
  c.expires_at, u.last_used_at, ${STATUS} as status, c.created_at`;

export const sealedSecrets = (kind: CredentialKind): string =>
  `select sealed_secret as sealed from access.credentials where kind = '${kind}' and revoked_at is null`;

const credentialExpiry = new Gauge({
  name: 'disburse_credential_expiry_timestamp_seconds',
  help: 'When the next credential that has no replacement expires, in seconds since 1970, by kind: payouts, exchange, admin. In the past for a day after it has expired; missing where none expires.',
  labelNames: ['kind'] as const,
  registers,
});

/** The earliest expiry per kind, ignoring those over a day ago and credentials with a valid successor. */
const NEXT_EXPIRIES = `select c.kind, min(least(c.expires_at, c.rolling_until)) as "expiresAt"
  from access.credentials c
  where least(c.expires_at, c.rolling_until) > now() - interval '1 day' and not c.is_pending and c.revoked_at is null
    and (c.rolling_until is null or not exists (select from access.credentials other
      where other.key_id = c.key_id and other.rolling_until is null and other.revoked_at is null
        and not other.is_pending and coalesce(other.expires_at > now(), true)))
  group by c.kind`;

/** The number of queues of merchant reads. A read that hangs delays only the merchants in its queue. */
const READ_LANES = 8;

type Reach = Pick<Requester, 'merchants' | 'operatorId'>;

function isReached({ merchants, operatorId }: Reach, row: AdminCredential): boolean {
  if (merchants === null || (row.operator_id !== null && row.operator_id === operatorId)) return true;
  return row.merchant_id !== null && merchants.includes(row.merchant_id);
}

/** The read model of credentials. Callers verify a found owner in the owner's events. Ids must be UUIDs. */
@Injectable()
export class CredentialIndex {
  /** The queues of merchant reads. Concurrent reads share one query, because strangers can send many ids. */
  private readonly merchantReads = Array.from(
    { length: READ_LANES },
    () => new GroupCall((ids: readonly string[]) => this.findMerchants(ids)),
  );

  constructor(
    private readonly database: Database,
    private readonly progress: SubscriptionProgress,
  ) {}

  isMerchant(id: string): Promise<boolean> {
    return this.merchantReads[parseInt(id.slice(-2), 16) % READ_LANES]!.call(id);
  }

  async areMerchants(ids: readonly string[]): Promise<boolean> {
    return (await this.findMerchants(ids)).every(Boolean);
  }

  ownerOfKey(keyId: string): Promise<string | null> {
    const sql = `select owner_id as id from access.credentials where key_id = $1 and kind = 'exchange'`;
    return this.id(sql, keyId);
  }

  ownerOfSecret(secretHash: string): Promise<string | null> {
    return this.id('select owner_id as id from access.credentials where secret_hash = $1', secretHash);
  }

  /** Returns the key id of a credential, or the given id if no credential has that id. */
  async findExchangeKey(credentialId: string): Promise<string> {
    const sql = 'select key_id as id from access.credentials where credential_id = $1';
    return (await this.id(sql, credentialId)) ?? credentialId;
  }

  nextExpiries(): Promise<{ kind: CredentialKind; expiresAt: Date }[]> {
    return this.database.query(NEXT_EXPIRIES);
  }

  @Periodic({ name: 'gauge of credentials that expire', everyMs: 60_000 })
  async measure(): Promise<void> {
    const next = await this.nextExpiries();
    // Drops the dates of rolled and revoked credentials.
    credentialExpiry.reset();
    for (const { kind, expiresAt } of next) credentialExpiry.set({ kind }, expiresAt.getTime() / 1000);
  }

  /** Lists credentials, newest first; null `merchants` means all. */
  async page(merchants: readonly string[] | null, filter: CredentialsQuery) {
    const where = {
      'c.kind = ?': filter.kind,
      'c.merchant_id = ?': filter.merchant_id,
      'c.operator_id = ?': filter.operator_id,
      [`${STATUS} = ?`]: filter.status,
      'c.merchant_id = any(?)': merchants,
    };
    const { rows: credentials, next_cursor } = await this.read(where, filter);
    return { credentials, next_cursor };
  }

  /** Finds a credential. Throws `not_found` unless it is the caller's own or within the caller's reach. */
  async find(id: string, caller: Reach, title = 'Credential'): Promise<AdminCredential> {
    const row = await this.first({ 'c.credential_id = ?': id }, caller);
    if (row === null) throw DomainError.notFound(title);
    return row;
  }

  /** Finds like `find`. Throws `not_found` also for an own credential with merchants the caller lacks. */
  async findDisplayed(id: string, caller: Reach): Promise<AdminCredential> {
    const row = await this.find(id, caller);
    const { merchants } = caller;
    const isWithin = row.merchants?.every((each) => merchants?.includes(each)) === true;
    if (merchants === null || row.merchant_id !== null || isWithin) return row;
    throw DomainError.notFound('Credential');
  }

  /** Finds a credential by secret; null if it is neither the caller's own nor within the caller's reach. */
  findBySecret(secretHash: string, caller: Reach): Promise<AdminCredential | null> {
    return this.first({ 'c.secret_hash = ?': secretHash }, caller);
  }

  /** Finds credentials by id or key id; payouts keys only by id, because their key id is the merchant id. */
  @Searches('credentials:read')
  search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.database.query<Found>(
      `select 'credential' as kind, credential_id::text as id, merchant_id,
         coalesce(name, 'Credential') || ' (' || kind || ')' as title
       from access.credentials
       where credential_id = $1 or (key_id = $1 and kind <> 'payouts') limit 20`,
      [uuid],
    );
  }

  private async first(where: Conditions, caller: Reach): Promise<AdminCredential | null> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const [row] = (await this.read(where, { page_size: 1 })).rows;
    return row !== undefined && isReached(caller, row) ? row : null;
  }

  private read(where: Conditions, page: KeysetPage) {
    const from = `access.credentials c left join access.merchants m on m.merchant_id = c.merchant_id
      left join access.credential_uses u on u.credential_id = c.credential_id`;
    const list = { columns: COLUMNS, from, time: 'c.created_at', id: 'c.credential_id', where };
    return listPage<AdminCredential>(this.database, list, page);
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
