import type { PoolClient } from 'pg';
import { DomainError } from '../../../kernel/domain-error.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import { credentialHistory, type CredentialEvent } from '../domain/credentials.js';
import { merchantHistory, type MerchantEvent } from '../domain/merchant.js';
import { operatorHistory, type OperatorEvent } from '../domain/operator.js';
import { portalSessionHistory, type PortalSessionEvent } from '../domain/portal-session.js';
import { Inject, Injectable } from '@nestjs/common';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { ApiProperty, Nested } from '../../../platform/dto/field.js';
import { oneOf, text, TIME, UUID } from '../../../platform/dto/rules.js';
import { Filter, ListParameters } from '../../../platform/http/list-query.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage, type Conditions } from '../../../platform/postgres/list-page.js';
import { type Role, ROLES } from '../domain/roles.js';

export const DIRECTORY_VIEW = subscriptionName('access.directory');

type DirectoryEvent = MerchantEvent | CredentialEvent | OperatorEvent | PortalSessionEvent;

/** The tables, each with the member of events that is the id of its rows. */
const IDS = {
  merchants: 'merchant_id',
  operators: 'operator_id',
  credentials: 'credential_id',
  portal_sessions: 'session_id',
} as const;

/** The projection of merchants, operators and portal sessions with their credentials. */
export const directoryProjection = subscriptionOf<DirectoryEvent>({
  name: DIRECTORY_VIEW,
  events: [merchantHistory, credentialHistory, operatorHistory, portalSessionHistory].flatMap(
    ({ events }) => events,
  ),
  // The actors of sessions are personal.
  staysSealed: true,
  // One statement per event: credentials change a few times a year.
  async apply(events, tx, schema = 'access') {
    for (const event of events) await applyOne(event, tx, schema);
  },
  tables: { schema: 'access', names: Object.keys(IDS) },
});

async function applyOne({ type, data }: DirectoryEvent, tx: PoolClient, schema: string): Promise<unknown> {
  /** Inserts the members that are columns. */
  const insert = (table: string, row: object): Promise<unknown> =>
    tx.query(
      `insert into ${schema}.${table} select * from json_populate_record(null::${schema}.${table}, $1)
       on conflict do nothing`,
      [JSON.stringify(row)],
    );
  /** Changes the rows with the id that the event has. */
  const update = (table: keyof typeof IDS, row: object, id: string = IDS[table]): Promise<unknown> => {
    const changes = Object.keys(row).map((each, n) => `${each} = $${n + 2}`);
    return tx.query(`update ${schema}.${table} set ${changes.join()} where ${id} = $1`, [
      (data as unknown as Readonly<Record<string, string>>)[id],
      ...(Object.values(row) as unknown[]),
    ]);
  };
  switch (type) {
    case 'merchant.registered.v1': {
      const none = { origins: [], callbacks: [], ip_allow_list: [] };
      return insert('merchants', { ...data, status: 'active', ...none });
    }
    case 'merchant.suspended.v1':
      return update('merchants', { status: 'suspended' });
    case 'merchant.reinstated.v1':
      return update('merchants', { status: 'active' });
    case 'merchant.embedding_set.v1': {
      const { origins, callbacks, shown_as: display_name } = data;
      return update('merchants', { origins, callbacks, display_name });
    }
    case 'merchant.renamed.v1':
      return update('merchants', { name: data.name });
    case 'merchant.limits_set.v1':
      return update('merchants', { requests_per_minute: data.requests_per_minute });
    case 'merchant.ip_allow_list_set.v1':
      return update('merchants', { ip_allow_list: data.cidrs });
    case 'credential.issued.v1': {
      const operator_id = data.merchant_id === null ? data.owner_id : null;
      return insert('credentials', { ...data, operator_id, created_at: data.at });
    }
    case 'credential.activated.v1':
      return update('credentials', { is_pending: false });
    case 'credential.rolled.v1':
      return update('credentials', { rolling_until: data.until });
    case 'credential.revoked.v1':
      return update('credentials', { revoked_at: data.at });
    case 'credential.restricted.v1':
      return update('credentials', { addresses: data.addresses }, 'key_id');
    case 'operator.created.v1':
      return insert('operators', { ...data, status: 'active', created_at: data.at });
    case 'operator.role_set.v1':
      return update('operators', { role: data.role });
    case 'operator.disabled.v1':
      return update('operators', { status: 'disabled', disabled_at: data.at });
    case 'operator.enabled.v1':
      return update('operators', { status: 'active' });
    case 'portal_session.created.v1':
      return insert('portal_sessions', data);
    case 'portal_session.entered.v1':
      return update('portal_sessions', { session_expires_at: data.session_expires_at });
    case 'portal_session.revoked.v1':
      return update('portal_sessions', { revoked_at: data.revoked_at });
    case 'credential.page_set.v1':
    case 'operator.passkey_added.v1':
    case 'operator.passkey_removed.v1':
      return;
    default:
      return type satisfies never;
  }
}

const MERCHANT_STATUSES = ['active', 'suspended'];
const STRINGS = { type: 'array', items: { type: 'string' } };

class DisplayedEmbedding {
  @ApiProperty(STRINGS) origins!: readonly string[];
  @ApiProperty(STRINGS) callbacks!: readonly string[];
  @ApiProperty({ type: 'string', nullable: true }) display_name!: string | null;
}

class DisplayedLimits {
  @ApiProperty({ type: 'integer' }) requests_per_minute!: number;
}

/** A merchant; its id is the value of `svc-api-key`. */
export class AdminMerchant {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string', enum: MERCHANT_STATUSES }) status!: string;
  @ApiProperty(STRINGS) ip_allow_list!: readonly string[];
  @Nested(() => DisplayedEmbedding) embedding!: DisplayedEmbedding;
  @Nested(() => DisplayedLimits) limits!: DisplayedLimits;
  @ApiProperty(TIME) created_at!: Date;
}

/** Parameters of GET /admin/v1/merchants. */
export class MerchantsQuery extends ListParameters {
  @Filter(oneOf(MERCHANT_STATUSES), 'Only those of this status.') status?: 'active' | 'suspended';

  @Filter(text({ maxLength: 255 }), 'Only those whose name contains this, in either letter case.')
  name?: string;
}

/** The merchants with their settings. */
@Injectable()
export class MerchantList {
  constructor(
    private readonly database: Database,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Newest first. `merchants`: only these; null: all. */
  page(merchants: readonly string[] | null, { status, name, ...page }: MerchantsQuery) {
    const list = {
      columns: `merchant_id as id, name, status, ip_allow_list, registered_at as created_at,
        json_build_object('origins', origins, 'callbacks', callbacks, 'display_name', display_name) as embedding,
        json_build_object('requests_per_minute',
          coalesce(requests_per_minute, ${this.config.rateLimitPerMinute})) as limits`,
      from: 'access.merchants',
      time: 'registered_at',
      id: 'merchant_id',
      where: {
        'status = ?': status,
        'strpos(lower(name), lower(?)) > 0': name,
        'merchant_id = any(?)': merchants,
      },
    };
    return listPage<AdminMerchant>(this.database, list, page);
  }

  /** Includes all that was written before. Throws `not_found`. */
  async get(id: string): Promise<AdminMerchant> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    return this.find(id);
  }

  /** Reads the row as it is, without a wait. Throws `not_found`. */
  async find(id: string): Promise<AdminMerchant> {
    const [row] = (await this.page([id], { page_size: 1 })).rows;
    if (row === undefined) throw DomainError.notFound('Merchant');
    return row;
  }

  @Searches('merchants:read')
  search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.database.query<Found>(
      `select 'merchant' as kind, merchant_id::text as id, merchant_id, name || ', ' || status as title
       from access.merchants where merchant_id = $1`,
      [uuid],
    );
  }
}

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

/** Parameters of GET /admin/v1/operators. */
export class OperatorsQuery extends ListParameters {
  @Filter(oneOf(OPERATOR_STATUSES), 'Only those of this status.') status?: string;
}

/** The persons who operate the service. */
@Injectable()
export class OperatorsView {
  constructor(
    private readonly database: Database,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Newest first. */
  page({ status, ...page }: OperatorsQuery) {
    return this.read({ 'status = ?': status }, page);
  }

  /** Includes all that was written before. `id` must be a uuid. Throws `not_found`. */
  async get(id: string): Promise<DisplayedOperator> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const [row] = (await this.read({ 'operator_id = ?': id })).rows;
    if (row === undefined) throw DomainError.notFound('Operator');
    return row;
  }

  /** Finds an operator by email, in either letter case. */
  async byEmail(email: string): Promise<DisplayedOperator | null> {
    return (await this.read({ 'lower(email) = lower(?)': email })).rows[0] ?? null;
  }

  /** Counts all operators, disabled ones too. */
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

  /** Searches by the id or the email. */
  @Searches('operators:read')
  search({ text, uuid }: SearchQuery): Promise<readonly Found[]> {
    return this.database.query<Found>(
      `select 'operator' as kind, operator_id::text as id, null as merchant_id, name || ', ' || role as title
       from access.operators where operator_id = $1 or lower(email) = lower($2) limit 20`,
      [uuid, text],
    );
  }

  private read(where: Conditions, page: KeysetPage = { page_size: 1 }) {
    const columns = 'operator_id as id, name, email, role, status, created_at';
    const list = { columns, from: 'access.operators', id: 'operator_id', where };
    return listPage<DisplayedOperator>(this.database, list, page);
  }
}
