import type { PoolClient } from 'pg';
import { deriveId } from '../../../kernel/ids.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { ORDER_EVENTS, ORDER_STATUSES, type OrderEvent, type OrderStatus } from '../domain/order-events.js';
import { orderRecord } from '../domain/order-record.js';
import { order, type ExistingOrder, type Order } from '../domain/order.js';

/** Name of the checkpoint that a list waits for. */
export const ORDER_VIEWS = subscriptionName('exchange.views');

/** Orders and their counts, always in step: one transaction per batch moves both. */
export const orderViews: SubscriptionDefinition = {
  name: ORDER_VIEWS,
  events: ORDER_EVENTS,
  // Lists wait for it, orders do not: under load a little more in a batch costs much less.
  gatherMs: 20,
  staysSealed: true,
  apply: applyOrderEvents,
  tables: { schema: 'exchange', names: ['orders', 'order_counts'], json: ['events'] },
};

/** What a batch makes of an order. */
interface Change extends KnownOrder {
  readonly state: ExistingOrder;
  readonly scopes: Scopes;
  /** Before the batch; null when there was no row. */
  readonly was: Counted | null;
}

/** What an order is counted by. */
interface Counted {
  readonly status: OrderStatus;
  readonly scopes: Scopes;
}

interface Row extends KnownOrder {
  readonly was: Counted;
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
): Promise<ReadonlyMap<string, Row>> {
  const { rows } = await tx.query<
    { id: string; revision: string; status: number; events: string } & Record<ScopeColumn, string | null>
  >(
    `select id, revision, status, events, key_scope, user_scope, address_scope, user_address_scope
     from ${schema}.orders where id = any($1::uuid[])`,
    [[...new Set(events.map(idOf))]],
  );
  return new Map(
    rows.map(({ id, revision, status, events: text, ...scopes }) => [
      id,
      {
        revision: Number(revision),
        events: JSON.parse(text) as KnownOrder['events'],
        was: { status: ORDER_STATUSES[status]!, scopes },
      },
    ]),
  );
}

function changesOf(events: readonly RecordedEvent[], before: ReadonlyMap<string, Row>): readonly Change[] {
  const after = new Map<string, KnownOrder>(before);
  for (const event of events) {
    const id = idOf(event);
    after.set(id, withEvent(after.get(id) ?? UNKNOWN_ORDER, event));
  }
  return [...after].flatMap(([id, order]) => {
    const earlier = before.get(id);
    if (earlier?.revision === order.revision) return [];
    const state = foldOrder(order);
    if (state.status === 'none') return [];
    return [{ ...order, state, scopes: scopesOf(state), was: earlier?.was ?? null }];
  });
}

async function write(changes: readonly Change[], tx: PoolClient, schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.orders as known (id, key_scope, user_scope, address_scope, user_address_scope,
       status, created_at, revision, events, body)
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::smallint[],
       $7::timestamptz[], $8::bigint[], $9::text[], $10::text[])
     on conflict (id) do update set user_scope = excluded.user_scope,
       user_address_scope = excluded.user_address_scope, status = excluded.status, revision = excluded.revision,
       events = excluded.events, body = excluded.body`,
    [
      changes.map(({ state }) => state.facts.order_id),
      changes.map(({ scopes }) => scopes.key_scope),
      changes.map(({ scopes }) => scopes.user_scope),
      changes.map(({ scopes }) => scopes.address_scope),
      changes.map(({ scopes }) => scopes.user_address_scope),
      changes.map(({ state }) => statusNumber(state.status)),
      changes.map(({ state }) => state.facts.created_at),
      changes.map(({ revision }) => revision),
      changes.map(({ events }) => JSON.stringify(events)),
      changes.map(({ state }) => orderJson(state)),
    ],
  );
}

/** Takes each order from the counts that it was in, and adds it to those that it is in now. */
async function count(changes: readonly Change[], tx: PoolClient, schema: string): Promise<void> {
  const moved = changes.filter(
    ({ state, scopes, was }) => state.status !== was?.status || hasLost(scopes, was),
  );
  const steps = moved.flatMap(({ state, scopes, was }) => [
    ...countSteps({ status: state.status, scopes }, state, 1),
    ...(was === null ? [] : countSteps(was, state, -1)),
  ]);
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
  // Nothing is left that names a user of whom all orders are erased.
  const left = moved.flatMap(({ scopes, was }) => (hasLost(scopes, was) ? Object.values(was.scopes) : []));
  if (left.length > 0)
    await tx.query(
      `delete from ${schema}.order_counts where scope = any($1::uuid[]) and ${ORDER_STATUSES.join(' + ')} = 0`,
      [left],
    );
}

/** Whether an erasure took the order from its user. */
function hasLost(scopes: Scopes, was: Counted | null): was is Counted {
  return was !== null && was.scopes.user_scope !== scopes.user_scope;
}

function countSteps({ status, scopes }: Counted, { facts }: ExistingOrder, step: 1 | -1) {
  const places = countPlaces(scopes, Date.parse(facts.created_at));
  return places.map((place) => ({ ...place, status: statusNumber(status), step }));
}

export const HOUR_MS = 3_600_000;

/**
 * What the read model keeps of an order. Its events and not its state: that may have another shape in the next version,
 * which folds the same events.
 */
interface KnownOrder {
  /** Of the last event. */
  readonly revision: number;
  readonly events: readonly Pick<OrderEvent, 'type' | 'data'>[];
}

const UNKNOWN_ORDER: KnownOrder = { revision: -1, events: [] };

/** The order with one more event; the same one when it has seen the event before. */
function withEvent(known: KnownOrder, { revision, type, data }: RecordedEvent): KnownOrder {
  if (revision <= known.revision) return known;
  return { revision, events: [...known.events, { type, data } as unknown as OrderEvent] };
}

export function foldOrder({ events }: KnownOrder): Order {
  return events.reduce<Order>((state, event) => order.evolve(state, event as OrderEvent), order.initial);
}

/** The number of a status in `exchange.orders.status`. */
export function statusNumber(status: OrderStatus): number {
  return ORDER_STATUSES.indexOf(status);
}

/** The order as the API shows it, but for personal fields, which are sealed. */
function orderJson(state: ExistingOrder): string {
  return JSON.stringify(orderRecord(state));
}

/** The columns that lists filter by, each with an index. */
type ScopeColumn = 'key_scope' | 'user_scope' | 'address_scope' | 'user_address_scope';

/** The filters of a list but for status and time. */
interface Scope {
  readonly keyId: string;
  readonly userHash?: string | null | undefined;
  readonly withdrawAddress?: string | undefined;
}

/** Where the orders of a scope are found. */
export function scopeOf({ keyId, userHash, withdrawAddress }: Scope): {
  readonly column: ScopeColumn;
  readonly value: string;
} {
  const ofUser = userHash !== undefined && userHash !== null;
  if (ofUser && withdrawAddress !== undefined)
    return { column: 'user_address_scope', value: deriveId(keyId, 'both', userHash, withdrawAddress) };
  if (ofUser) return { column: 'user_scope', value: deriveId(keyId, 'user', userHash) };
  if (withdrawAddress !== undefined)
    return { column: 'address_scope', value: deriveId(keyId, 'address', withdrawAddress) };
  return { column: 'key_scope', value: keyId };
}

/** Every scope that an order is in, by column; null where it has no user, or none any more. */
type Scopes = Readonly<Record<ScopeColumn, string | null>>;

function scopesOf({ facts }: ExistingOrder): Scopes {
  const { key_id: keyId, user_hash: userHash, withdraw_address: withdrawAddress } = facts;
  return {
    key_scope: keyId,
    user_scope: userHash === null ? null : scopeOf({ keyId, userHash }).value,
    address_scope: scopeOf({ keyId, withdrawAddress }).value,
    user_address_scope: userHash === null ? null : scopeOf({ keyId, userHash, withdrawAddress }).value,
  };
}

/** Orders are counted by whole days, those of a key by whole hours too; days first. In hours. */
export function countedSpans(column: ScopeColumn): readonly number[] {
  return column === 'key_scope' ? [24, 1] : [24];
}

/** A count that an order is in. */
interface CountPlace {
  readonly scope: string;
  readonly hours: number;
  readonly startsAt: Date;
}

/** The counts of an order with these scopes. */
function countPlaces(scopes: Scopes, createdAt: number): readonly CountPlace[] {
  return Object.entries(scopes).flatMap(([column, scope]) =>
    scope === null
      ? []
      : countedSpans(column as ScopeColumn).map((hours) => {
          const span = hours * HOUR_MS;
          return { scope, hours, startsAt: new Date(Math.floor(createdAt / span) * span) };
        }),
  );
}
