import type { PoolClient } from 'pg';
import type { DomainEvent } from '../../kernel/aggregate.js';
import type { RecordedEvent } from '../event-store/port.js';

/** The transaction of a subscription: its rows commit together with its checkpoint. */
export type Transaction = PoolClient;

const declared = new Set<string>();

/** Names of the subscriptions whose files were loaded. */
export const declaredSubscriptions: ReadonlySet<string> = declared;

/** Declares the name of a subscription. The boot fails unless it is in `readModels` or provided by `provideSaga`. */
export function subscriptionName(name: string): string {
  declared.add(name);
  return name;
}

/** Recorded events with the types and data that their context gives them. */
type RecordedAs<Events extends DomainEvent> = Events extends DomainEvent
  ? Omit<RecordedEvent, 'type' | 'data'> & Pick<Events, 'type' | 'data'>
  : never;

/**
 * A consumer of the one ordered stream whose effects are rows: a read model, or a saga, which records work or commands.
 * The runner locks the checkpoint row, applies a batch and moves the checkpoint, in one transaction.
 * A context lists its read models (`readModels` of the context declaration) and provides its sagas (`provideSaga`).
 */
export interface SubscriptionDefinition<Events extends DomainEvent = RecordedEvent> {
  /** The name of the subscription and its checkpoint, for example `payouts.views`. */
  readonly name: string;
  /** The stored names of the events it applies; other events only move the checkpoint. */
  readonly events: readonly string[];
  /**
   * It receives every event of the log, not only `events`: unknown types too, with sealed fields still sealed. It is for
   * subscriptions that record the log itself; neither reads nor readiness wait for them.
   */
  readonly wholeLog?: true;
  /**
   * Personal fields arrive sealed, as they are stored. Then a reader without keys computes the same rows, and they are
   * unreadable once the key is dropped.
   */
  readonly staysSealed?: true;
  /**
   * Applies events in order through `tx`, with one statement per kind of row instead of one per event. Personal fields
   * arrive opened unless {@link staysSealed} is set.
   * Applying an event twice must be harmless. Read models write to their tables in `schema` when it is given.
   */
  apply(events: readonly RecordedAs<Events>[], tx: Transaction, schema?: string): Promise<void>;
  /**
   * The minimum time in ms between the starts of two batches under load, since larger batches cost less. A single event
   * is applied at once. This is for background work.
   */
  readonly gatherMs?: number;
  /** Runs after the commit, to wake workers. A crash may skip it, so it must do nothing durable. */
  afterCommit?(events: readonly RecordedAs<Events>[]): void;
  /** The tables of a read model, which a rebuild replaces. Sagas have none: they never replay. */
  readonly tables?: ReadModelTables;
}

/** A subscription with tables. */
export type ReadModel = SubscriptionDefinition & { readonly tables: ReadModelTables };

export function isReadModel(definition: SubscriptionDefinition): definition is ReadModel {
  return definition.tables !== undefined;
}

/** Gives a subscription the event types of its context; `events` lists their names. */
export function subscriptionOf<Events extends DomainEvent>(
  definition: SubscriptionDefinition<Events>,
): SubscriptionDefinition {
  return definition as unknown as SubscriptionDefinition;
}

/** The tables of a read model, all in one schema; nothing else writes to them. */
export interface ReadModelTables {
  readonly schema: string;
  readonly names: readonly string[];
  /** Columns of JSON text whose order of members may differ between the store and an exported log. */
  readonly json?: readonly string[];
}
