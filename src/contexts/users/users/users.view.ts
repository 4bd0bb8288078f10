import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { tidy } from '../../../kernel/typed-text.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import type { AdminUser } from './user-json.view.js';
import {
  ACCOUNT_STATES,
  STATE_AFTER,
  user,
  type AccountState,
  type ExistingUser,
  type UserCreated,
  type UserEvent,
} from './user.js';

export const USERS_VIEW = subscriptionName('users.views');

export type UserState = AccountState | 'erased';

/** The states in order. The column stores the index. */
export const USER_STATES: readonly UserState[] = [...ACCOUNT_STATES, 'erased'];

/** Projects users without personal data. States only advance, so repeated and late events change nothing. */
export const usersProjection = subscriptionOf<UserEvent>({
  name: USERS_VIEW,
  events: Object.keys(STATE_AFTER),
  staysSealed: true,
  async apply(events, tx, schema = 'users') {
    const created = events.flatMap((event) => (event.type === 'user.created.v1' ? [event.data] : []));
    const changes = events.flatMap((event) => (event.type === 'user.created.v1' ? [] : [toChange(event)]));
    if (created.length > 0)
      await tx.query(
        `insert into ${schema}.users (user_id, merchant_id, external_id, state, created_at, changed_at)
         select user_id, merchant_id, external_id, 0, created_at, created_at
         from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[])
           as created (user_id, merchant_id, external_id, created_at) on conflict do nothing`,
        columnArrays(created, 'user_id', 'merchant_id', 'external_id', 'created_at'),
      );
    if (changes.length > 0)
      await tx.query(
        `update ${schema}.users u set state = greatest(u.state, changed.state),
           changed_at = greatest(u.changed_at, changed.at), wallet = coalesce(u.wallet, changed.wallet)
         from (select user_id, max(state) as state, max(at) as at, max(wallet) as wallet
           from unnest($1::uuid[], $2::smallint[], $3::timestamptz[], $4::text[]) as change (user_id, state, at, wallet)
           group by user_id) changed
         where u.user_id = changed.user_id`,
        columnArrays(changes, 'user_id', 'state', 'at', 'wallet'),
      );
  },
  tables: { schema: 'users', names: ['users'] },
});

function toChange({ type, data }: Exclude<UserEvent, UserCreated>) {
  const wallet = 'issuer_wallet_address' in data ? data.issuer_wallet_address : null;
  const at = 'activated_at' in data ? data.activated_at : data.at;
  return { user_id: data.user_id, state: USER_STATES.indexOf(STATE_AFTER[type]), at, wallet };
}

/** A user without personal data, for operators (admin-api.md 3). */
export type UserRow = Omit<AdminUser, 'phone_number' | 'email' | 'onboarding'>;

const COLUMNS = `user_id as id, merchant_id, external_id, created_at,
  (array['${USER_STATES.join("','")}'])[state + 1] as account_state, wallet as issuer_wallet_address`;

export interface UserFilter extends KeysetPage {
  readonly user_ids?: readonly string[] | undefined;
  readonly external_id?: string | undefined;
  readonly wallet?: string | undefined;
  readonly state?: UserState | undefined;
}

/** Reads rows of users. Folds a single user from events, so that the user includes every earlier write. */
@Injectable()
export class UsersView {
  constructor(
    private readonly database: Database,
    private readonly loop: CommandLoop,
  ) {}

  /** Returns a user. Throws `not_found` for a null id, an erased user and a user of another merchant. */
  async get(merchantId: string, userId: string | null): Promise<ExistingUser> {
    const state = userId === null ? user.initial : await this.loop.loadForDisplay(user, userId);
    const isReadable = state.account_state !== 'unknown' && state.account_state !== 'erased';
    if (isReadable && state.merchant_id === merchantId) return state;
    throw DomainError.notFound('User');
  }

  /** Returns the id of the merchant's user with the wallet, in either letter case. */
  idOfWallet(merchantId: string, address: string): Promise<string | null> {
    return this.findId('lower(wallet)', merchantId, tidy(address).toLowerCase());
  }

  idOfExternalId(merchantId: string, externalId: string): Promise<string | null> {
    return this.findId('external_id', merchantId, externalId);
  }

  private async findId(column: string, merchantId: string, value: string): Promise<string | null> {
    // PostgreSQL stores no NUL characters.
    if (value.includes('\0')) return null;
    const rows = await this.database.query<{ user_id: string }>(
      `select user_id from users.users where merchant_id = $1 and ${column} = $2`,
      [merchantId, value],
    );
    return rows[0]?.user_id ?? null;
  }

  /** Returns a page, newest first. Null `merchants` means all. */
  page(merchants: readonly string[] | null, filter: UserFilter) {
    const { user_ids, external_id, wallet, state } = filter;
    const lanes = { column: 'merchant_id', type: 'uuid', values: merchants } as const;
    const where = {
      'user_id = any(?)': user_ids,
      'external_id = ?': external_id,
      'lower(wallet) = ?': wallet?.trim().toLowerCase(),
      'state = ?': state && USER_STATES.indexOf(state),
    };
    const list = { columns: COLUMNS, from: 'users.users', id: 'user_id', lanes, where };
    return listPage<UserRow>(this.database, list, filter);
  }

  /** Returns the ids of merchants with users, by skipping through the index. */
  async merchants(): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `with recursive owners as (
         (select merchant_id as id from users.users order by merchant_id limit 1)
         union all
         select (select merchant_id from users.users where merchant_id > last.id order by merchant_id limit 1)
         from owners last where last.id is not null
       ) select id from owners where id is not null`,
    );
    return rows.map(({ id }) => id);
  }
}
