import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { ORDER_EVENTS, ORDER_STATUSES, type OrderStatus } from '../domain/order-events.js';
import type { MadeOrder, Order } from '../domain/order.js';
import {
  countPlaces,
  foldOrder,
  NOT_MADE,
  orderJson,
  scopesOf,
  statusNumber,
  type FoldedOrder,
  type Scopes,
} from './order-fold.js';

/** Name of the checkpoint that a list waits for. */
export const ORDER_VIEWS = subscriptionName('exchange.views');

/** Orders and their counts, always in step: one transaction per batch moves both. */
export const orderViews: SubscriptionDefinition = {
  name: ORDER_VIEWS,
  events: ORDER_EVENTS,
  // Lists wait for it, orders do not: under load a little more in a batch costs much less.
  gatherMs: 20,
  apply: applyOrderEvents,
  tables: { schema: 'exchange', names: ['orders', 'order_counts'] },
};

/** What a batch makes of an order. */
interface Change {
  readonly revision: number;
  readonly state: MadeOrder;
  readonly scopes: Scopes;
  /** Before the batch; null when there was no row. */
  readonly was: OrderStatus | null;
}

/** Three statements, however many events. */
export async function applyOrderEvents(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema = 'exchange',
): Promise<void> {
  const changes = changesOf(events, await known(events, tx, schema));
  if (changes.length === 0) return;
  await write(changes, tx, schema);
  await count(changes, tx, schema);
}

function idOf({ data }: RecordedEvent): string {
  return data['order_id'] as string;
}

async function known(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema: string,
): Promise<ReadonlyMap<string, FoldedOrder>> {
  const { rows } = await tx.query<{ id: string; revision: string; state: string }>(
    `select id, revision, state from ${schema}.orders where id = any($1::uuid[])`,
    [[...new Set(events.map(idOf))]],
  );
  return new Map(
    rows.map(({ id, revision, state }) => [
      id,
      { revision: Number(revision), state: JSON.parse(state) as Order },
    ]),
  );
}

function changesOf(
  events: readonly RecordedEvent[],
  before: ReadonlyMap<string, FoldedOrder>,
): readonly Change[] {
  const after = new Map(before);
  for (const event of events) {
    const id = idOf(event);
    after.set(id, foldOrder(after.get(id) ?? NOT_MADE, event));
  }
  return [...after].flatMap(([id, { revision, state }]) => {
    const earlier = before.get(id);
    if (state.status === 'none' || earlier?.revision === revision) return [];
    const was = earlier?.state.status ?? 'none';
    return [{ revision, state, scopes: scopesOf(state), was: was === 'none' ? null : was }];
  });
}

async function write(changes: readonly Change[], tx: PoolClient, schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.orders as known (id, key_scope, user_scope, address_scope, user_address_scope,
       status, created_at, revision, state, body)
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::smallint[],
       $7::timestamptz[], $8::bigint[], $9::text[], $10::text[])
     on conflict (id) do update set status = excluded.status, revision = excluded.revision,
       state = excluded.state, body = excluded.body`,
    [
      changes.map(({ state }) => state.facts.order_id),
      changes.map(({ scopes }) => scopes.key_scope),
      changes.map(({ scopes }) => scopes.user_scope),
      changes.map(({ scopes }) => scopes.address_scope),
      changes.map(({ scopes }) => scopes.user_address_scope),
      changes.map(({ state }) => statusNumber(state.status)),
      changes.map(({ state }) => state.facts.created_at),
      changes.map(({ revision }) => revision),
      changes.map(({ state }) => JSON.stringify(state)),
      changes.map(({ state }) => orderJson(state)),
    ],
  );
}

/** Takes each order from the count of its former status, and adds it to that of its new one. */
async function count(changes: readonly Change[], tx: PoolClient, schema: string): Promise<void> {
  const moved = changes.filter(({ state, was }) => state.status !== was);
  const steps = moved.flatMap(({ state, scopes, was }) =>
    countPlaces(scopes, Date.parse(state.facts.created_at)).flatMap((place) => {
      const added = { ...place, status: statusNumber(state.status), step: 1 };
      return was === null ? [added] : [added, { ...place, status: statusNumber(was), step: -1 }];
    }),
  );
  if (steps.length === 0) return;
  await tx.query(
    `insert into ${schema}.order_counts as known (scope, hours, starts_at, ${ORDER_STATUSES.join(', ')})
     select scope, hours, starts_at,
       ${ORDER_STATUSES.map((_, status) => `coalesce(sum(step) filter (where status = ${status}), 0)`).join(', ')}
     from unnest($1::uuid[], $2::smallint[], $3::timestamptz[], $4::smallint[], $5::smallint[])
       as step (scope, hours, starts_at, status, step)
     group by scope, hours, starts_at
     on conflict (scope, hours, starts_at) do update
     set ${ORDER_STATUSES.map((status) => `${status} = known.${status} + excluded.${status}`).join(', ')}`,
    [
      steps.map(({ scope }) => scope),
      steps.map(({ hours }) => hours),
      steps.map(({ startsAt }) => startsAt.toISOString()),
      steps.map(({ status }) => status),
      steps.map(({ step }) => step),
    ],
  );
}
