import type { PoolClient } from 'pg';
import type { DomainEvent } from '../../kernel/aggregate.js';
import type { RecordedEvent } from '../event-store/port.js';

/** The transaction of a batch: the rows are committed with the checkpoint. */
export type Transaction = PoolClient;

const declared = new Set<string>();

/** The names of the subscriptions whose files were loaded. */
export const declaredSubscriptions: ReadonlySet<string> = declared;

/** Declares the name of a subscription. The boot fails unless it is in `readModels` or provided by `provideSaga`. */
export function subscriptionName(name: string): string {
  declared.add(name);
  return name;
}

/** Recorded events with the types and data of their context. */
type RecordedAs<Events extends DomainEvent> = Events extends DomainEvent
  ? Omit<RecordedEvent, 'type' | 'data'> & Pick<Events, 'type' | 'data'>
  : never;

/**
 * A consumer of the log whose effects are rows: a read model, or a saga, which records work or commands. The runner
 * locks the checkpoint, applies a batch and moves the checkpoint in one transaction. A context lists its read models in
 * `readModels` and provides its sagas by `provideSaga`.
 */
export interface SubscriptionDefinition<Events extends DomainEvent = RecordedEvent> {
  /** The name of the subscription and its checkpoint, for example `payouts.views`. */
  readonly name: string;
  /** The types of the events that it applies; others only move the checkpoint. */
  readonly events: readonly string[];
  /**
   * Passes all events to `apply`, even of unknown types, with sealed fields sealed. Reads and readiness do not wait
   * for it.
   */
  readonly wholeLog?: true;
  /** Leaves personal fields sealed, so that the rows do not depend on keys, and an erasure covers them. */
  readonly staysSealed?: true;
  /** Applies events, idempotently and with one statement per kind of row. A read model writes to `schema`, if given. */
  apply(events: readonly RecordedAs<Events>[], tx: Transaction, schema?: string): Promise<void>;
  /** The minimum time in ms between the starts of two batches, for background work: larger batches cost less. */
  readonly gatherMs?: number;
  /** Wakes workers after the commit. A crash may skip it. */
  afterCommit?(events: readonly RecordedAs<Events>[]): void;
  /** The tables that a rebuild replaces. A saga has none, because it must not replay. */
  readonly tables?: ReadModelTables;
}

export type ReadModel = SubscriptionDefinition & { readonly tables: ReadModelTables };

export function isReadModel(definition: SubscriptionDefinition): definition is ReadModel {
  return definition.tables !== undefined;
}

/** Declares a subscription with the event types of its context. */
export function subscriptionOf<Events extends DomainEvent>(
  definition: SubscriptionDefinition<Events>,
): SubscriptionDefinition {
  return definition as unknown as SubscriptionDefinition;
}

/** The tables of a read model, all in one schema; nothing else writes to them. */
interface ReadModelTables {
  readonly schema: string;
  readonly names: readonly string[];
  /** The columns of JSON text whose order of members may differ in an exported log. */
  readonly json?: readonly string[];
}
