import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import { credentialChanges, credentialHistory, type CredentialEvent } from '../credentials/credentials.js';
import { MERCHANT_STATUSES, merchantChanges, merchantHistory, type MerchantEvent } from './merchant.js';
import {
  OPERATOR_STATUSES,
  operatorChanges,
  operatorHistory,
  type OperatorEvent,
} from '../operators/operator.js';
import { portalSessionHistory, type PortalActor, type PortalSessionEvent } from '../portal/portal-session.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { withChanges, type Changes } from '../../../kernel/aggregate.js';
import { Inject, Injectable } from '@nestjs/common';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { ApiProperty, Nested } from '../../../platform/dto/field.js';
import { nullable, oneOf, STRINGS, text, TEXT, TIME, UUID } from '../../../platform/dto/rules.js';
import { Filter, ListParameters } from '../../../platform/http/list-query.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage, type Conditions } from '../../../platform/postgres/list-page.js';
import { type Role, ROLES } from '../operators/roles.js';

export const DIRECTORY_VIEW = subscriptionName('access.directory');

type DirectoryEvent = MerchantEvent | CredentialEvent | OperatorEvent | PortalSessionEvent;

/** The table of each event type prefix, and the event member that has the row's id. */
const TABLES: Readonly<Record<string, readonly [table: string, id: string]>> = {
  merchant: ['merchants', 'merchant_id'],
  operator: ['operators', 'operator_id'],
  credential: ['credentials', 'credential_id'],
  portal_session: ['portal_sessions', 'session_id'],
};

/** The event types that insert a row; other types update a row. */
const INSERTING = /\.(registered|created|issued)\.v1$/;

/** The columns that an event sets. An insert ignores members that are not columns. */
const COLUMNS: Partial<Changes<object, DirectoryEvent>> = {
  ...merchantChanges,
  ...operatorChanges,
  ...credentialChanges,
  'credential.issued.v1': ({ at: created_at, ...data }) => ({
    ...{ ...data, created_at, operator_id: data.merchant_id === null ? data.owner_id : null },
  }),
  'credential.rolled.v1': ({ until: rolling_until }) => ({ rolling_until }),
  'credential.revoked.v1': ({ at: revoked_at }) => ({ revoked_at }),
  'portal_session.created.v1': (session) => session,
  'portal_session.entered.v1': ({ session_expires_at }) => ({ session_expires_at }),
  'portal_session.revoked.v1': ({ revoked_at }) => ({ revoked_at }),
};

export const directoryProjection = subscriptionOf<DirectoryEvent>({
  name: DIRECTORY_VIEW,
  events: [merchantHistory, credentialHistory, operatorHistory, portalSessionHistory].flatMap(
    ({ events }) => events,
  ),
  // The actors of portal sessions are personal data.
  staysSealed: true,
  // One statement per event is enough: credentials change a few times a year.
  async apply(events, tx, schema = 'access') {
    for (const event of events) {
      const row: Readonly<Record<string, unknown>> = withChanges(COLUMNS, event, {});
      const names = Object.keys(row);
      const [name, idName] = TABLES[event.type.split('.')[0]!]!;
      const table = `${schema}.${name}`;
      if (INSERTING.test(event.type))
        await tx.query(
          `insert into ${table} select * from json_populate_record(null::${table}, $1) on conflict do nothing`,
          [JSON.stringify(row)],
        );
      else if (names.length > 0) {
        const data = event.data as unknown as Readonly<Record<string, string>>;
        const id = event.type === 'credential.restricted.v1' ? 'key_id' : idName;
        const changes = names.map((each, n) => `${each} = $${n + 2}`);
        const sql = `update ${table} set ${changes.join()} where ${id} = $1`;
        await tx.query(sql, [data[id], ...names.map((each) => row[each])]);
      }
    }
  },
  tables: { schema: 'access', names: Object.values(TABLES).map(([name]) => name) },
});

class DisplayedEmbedding {
  @ApiProperty(STRINGS) origins!: readonly string[];
  @ApiProperty(STRINGS) callbacks!: readonly string[];
  @ApiProperty(nullable(TEXT)) display_name!: string | null;
}

class DisplayedLimits {
  @ApiProperty({ type: 'integer' }) requests_per_minute!: number;
}

/** A merchant; its id is the value of `svc-api-key`. */
export class AdminMerchant {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string', enum: [...MERCHANT_STATUSES] }) status!: string;
  @ApiProperty(STRINGS) ip_allow_list!: readonly string[];
  @Nested(() => DisplayedEmbedding) embedding!: DisplayedEmbedding;
  @Nested(() => DisplayedLimits) limits!: DisplayedLimits;
  @ApiProperty(TIME) created_at!: Date;
}

export class MerchantsQuery extends ListParameters {
  @Filter(oneOf(MERCHANT_STATUSES), 'Only those of this status.') status?: 'active' | 'suspended';

  @Filter(text({ maxLength: 255 }), 'Only those whose name contains this, in either letter case.')
  name?: string;
}

@Injectable()
export class MerchantList {
  constructor(
    private readonly database: Database,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Lists merchants, newest first; null `merchants` means all. */
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

  /** Returns a merchant with the effects of all earlier writes. Throws `not_found`. */
  async get(id: string): Promise<AdminMerchant> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
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

export class DisplayedOperator {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string' }) email!: string;
  @ApiProperty({ type: 'string', enum: [...ROLES] }) role!: Role;
  @ApiProperty({ type: 'string', enum: [...OPERATOR_STATUSES] }) status!: string;
  @ApiProperty(TIME) created_at!: Date;
}

export class OperatorsQuery extends ListParameters {
  @Filter(oneOf(OPERATOR_STATUSES), 'Only those of this status.') status?: string;
}

@Injectable()
export class OperatorsView {
  constructor(
    private readonly database: Database,
    private readonly progress: SubscriptionProgress,
  ) {}

  page({ status, ...page }: OperatorsQuery) {
    return this.read({ 'status = ?': status }, page);
  }

  /** Returns an operator with the effects of all earlier writes. `id` must be a UUID. Throws `not_found`. */
  async get(id: string): Promise<DisplayedOperator> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const [row] = (await this.read({ 'operator_id = ?': id })).rows;
    if (row === undefined) throw DomainError.notFound('Operator');
    return row;
  }

  async byEmail(email: string): Promise<DisplayedOperator | null> {
    return (await this.read({ 'lower(email) = lower(?)': email })).rows[0] ?? null;
  }

  async count(): Promise<number> {
    const sql = 'select count(*)::int as count from access.operators';
    return (await this.database.query<{ count: number }>(sql))[0]!.count;
  }

  async administrators(): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select operator_id as id from access.operators where role = 'administrator' and status = 'active'
       order by created_at`,
    );
    return rows.map(({ id }) => id);
  }

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

interface PortalSessionRow {
  readonly id: string;
  /** The encrypted PortalActor, copied from the event. */
  readonly actor: string | null;
}

const SESSION_COLUMNS = `session_id as id, actor, scopes, return_url,
  case when revoked_at is not null then 'revoked'
    when coalesce(session_expires_at, code_expires_at) <= now() then 'expired'
    when session_expires_at is null then 'pending' else 'active' end as status,
  created_at, code_expires_at, session_expires_at, last_seen_at`;

@Injectable()
export class PortalSessionsView {
  constructor(
    private readonly database: Database,
    private readonly codec: EventCodec,
  ) {}

  /** Returns the merchant's sessions, newest first (admin-api.md 6). */
  async page(merchantId: string, page: KeysetPage) {
    const list = {
      columns: SESSION_COLUMNS,
      from: 'access.portal_sessions left join access.portal_session_uses using (session_id)',
      id: 'session_id',
      where: { 'merchant_id = ?': merchantId },
    };
    const { rows, next_cursor } = await listPage<PortalSessionRow>(this.database, list, page);
    const sealed = rows.map(({ id, actor }) => ({
      stream: `portal_session-${id}`,
      type: 'portal_session.created.v1',
      data: { session_id: id, actor },
    }));
    const opened = await this.codec.open(sealed);
    const actors = opened.map(({ data }) => data.actor as unknown as PortalActor | null);
    return { portal_sessions: rows.map((row, n) => ({ ...row, actor: actors[n] ?? null })), next_cursor };
  }
}
