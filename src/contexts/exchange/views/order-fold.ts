import { deriveId } from '../../../kernel/ids.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { order, type MadeOrder, type Order } from '../domain/order.js';
import { ORDER_STATUSES, type OrderEvent, type OrderStatus } from '../domain/order-events.js';
import { orderRecord } from '../domain/order-record.js';

export const HOUR_MS = 3_600_000;

/**
 * What the read model keeps of an order. Its events and not its state: that may have another shape in the next version,
 * which folds the same events.
 */
export interface KnownOrder {
  /** Of the last event. */
  readonly revision: number;
  readonly events: readonly Pick<OrderEvent, 'type' | 'data'>[];
}

export const UNKNOWN_ORDER: KnownOrder = { revision: -1, events: [] };

/** The order with one more event; the same one when it has seen the event before. */
export function withEvent(known: KnownOrder, { revision, type, data }: RecordedEvent): KnownOrder {
  if (revision <= known.revision) return known;
  return { revision, events: [...known.events, { type, data } as unknown as OrderEvent] };
}

export function foldOrder({ events }: KnownOrder): Order {
  return events.reduce<Order>((state, event) => order.evolve(state, event as OrderEvent), order.initial);
}

/** How `exchange.orders.status` stands for the words of the API. */
export function statusNumber(status: OrderStatus): number {
  return ORDER_STATUSES.indexOf(status);
}

/** The order as the API shows it, but for personal fields, which are sealed. */
export function orderJson(state: MadeOrder): string {
  return JSON.stringify(orderRecord(state));
}

/** Names of the columns that a list goes by, each with an index of its own. */
export type ScopeColumn = 'key_scope' | 'user_scope' | 'address_scope' | 'user_address_scope';

/** The filters of a list but for status and time. */
export interface Scope {
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
export type Scopes = Readonly<Record<ScopeColumn, string | null>>;

export function scopesOf({ facts }: MadeOrder): Scopes {
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
export interface CountPlace {
  readonly scope: string;
  readonly hours: number;
  readonly startsAt: Date;
}

/** Of an order with these scopes that was made then. */
export function countPlaces(scopes: Scopes, createdAt: number): readonly CountPlace[] {
  return Object.entries(scopes).flatMap(([column, scope]) =>
    scope === null
      ? []
      : countedSpans(column as ScopeColumn).map((hours) => {
          const span = hours * HOUR_MS;
          return { scope, hours, startsAt: new Date(Math.floor(createdAt / span) * span) };
        }),
  );
}
