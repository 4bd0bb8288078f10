import { columnArrays } from '../../../platform/postgres/batches.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import type { AccountState, UserCreated, UserEvent } from '../domain/user.js';

export const USERS_VIEW = subscriptionName('users.views');

export type UserState = AccountState | 'erased';

/** In the order in which users go through them; the column holds the place. */
export const USER_STATES: readonly UserState[] = [
  'onboarding',
  'active',
  'deactivating',
  'deactivated',
  'erased',
];

/** The state after each event. */
const STATES = {
  'user.created.v1': 'onboarding',
  'user.activated.v1': 'active',
  'user.deactivation_started.v1': 'deactivating',
  'user.deactivated.v1': 'deactivated',
  'user.erased.v1': 'erased',
} as const satisfies Readonly<Record<UserEvent['type'], UserState>>;

interface Change {
  readonly user_id: string;
  /** Place in {@link USER_STATES}. */
  readonly state: number;
  readonly at: string;
  readonly wallet: string | null;
}

/**
 * Users without their personal data. Users only move forward, so that an event that comes twice, or late, changes nothing:
 * of two states the later one counts, and of two times.
 */
export const usersProjection = subscriptionOf<UserEvent>({
  name: USERS_VIEW,
  events: Object.keys(STATES),
  staysSealed: true,
  async apply(events, tx, schema = 'users') {
    const created: UserCreated['data'][] = [];
    const changes = new Map<string, Change>();
    for (const event of events) {
      if (event.type === 'user.created.v1') created.push(event.data);
      else changes.set(event.data.user_id, later(changes.get(event.data.user_id), changeOf(event)));
    }
    if (created.length > 0)
      await tx.query(
        `insert into ${schema}.users (user_id, merchant_id, external_id, state, created_at, changed_at)
         select user_id, merchant_id, external_id, 0, created_at, created_at
         from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[])
           as created (user_id, merchant_id, external_id, created_at) on conflict do nothing`,
        columnArrays(created, 'user_id', 'merchant_id', 'external_id', 'created_at'),
      );
    if (changes.size > 0)
      await tx.query(
        `update ${schema}.users u set state = greatest(u.state, changed.state),
           changed_at = greatest(u.changed_at, changed.at), wallet = coalesce(u.wallet, changed.wallet)
         from unnest($1::uuid[], $2::smallint[], $3::timestamptz[], $4::text[]) as changed (user_id, state, at, wallet)
         where u.user_id = changed.user_id`,
        columnArrays([...changes.values()], 'user_id', 'state', 'at', 'wallet'),
      );
  },
  tables: { schema: 'users', names: ['users'] },
});

type Changed = Exclude<UserEvent, UserCreated>;

function changeOf({ type, data }: Pick<Changed, 'type' | 'data'>): Change {
  const wallet = 'issuer_wallet_address' in data ? data.issuer_wallet_address : null;
  const at = 'activated_at' in data ? data.activated_at : data.at;
  return { user_id: data.user_id, state: USER_STATES.indexOf(STATES[type]), at, wallet };
}

function later(before: Change | undefined, change: Change): Change {
  if (before === undefined) return change;
  return {
    user_id: change.user_id,
    state: Math.max(before.state, change.state),
    at: before.at > change.at ? before.at : change.at,
    wallet: before.wallet ?? change.wallet,
  };
}
