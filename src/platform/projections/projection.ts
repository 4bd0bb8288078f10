import type { PoolClient } from 'pg';
import type { DomainEvent } from '../../kernel/aggregate.js';
import type { RecordedEvent } from '../event-store/port.js';

/** Where a consumer writes: its rows commit together with its checkpoint. */
export type Transaction = PoolClient;

const declared = new Set<string>();

/** Names of the subscriptions whose files were loaded. */
export const declaredSubscriptions: ReadonlySet<string> = declared;

/** Declares the name of a subscription: the boot fails when no context lists it. */
export function subscriptionName(name: string): string {
  declared.add(name);
  return name;
}

/** Events as they are recorded, with the types and data that a context declares. */
type RecordedAs<Events extends DomainEvent> = Events extends DomainEvent
  ? Omit<RecordedEvent, 'type' | 'data'> & Pick<Events, 'type' | 'data'>
  : never;

/**
 * A consumer of the one ordered stream whose effects are rows: a read model, or a saga that records work to do.
 * The runner locks the checkpoint row, applies a batch and moves the checkpoint, in one transaction.
 * Its context declares it (`subscriptions`).
 */
export interface SubscriptionDefinition<Events extends DomainEvent = RecordedEvent> {
  /** Name of the checkpoint, for example `payouts.views`. */
  readonly name: string;
  /** Stored names of its events; others only move the checkpoint. */
  readonly events: readonly string[];
  /**
   * Every event of the log instead of `events`, of unknown types too, as it is stored, with sealed fields sealed. For
   * what records the log itself; neither reads nor readiness wait for it.
   */
  readonly wholeLog?: true;
  /**
   * Personal fields arrive sealed, as they are stored: rows with them are the same for a reader without keys, and
   * unreadable once the key is dropped.
   */
  readonly staysSealed?: true;
  /**
   * Applies events in order through `tx`: sets, not loops (one statement per kind of row). Personal fields arrive opened,
   * but for {@link staysSealed}.
   * It must be harmless to see an event twice. Read models write to their tables in `schema` when it is given.
   */
  apply(events: readonly RecordedAs<Events>[], tx: Transaction, schema?: string): Promise<void>;
  /**
   * Under load, the minimum time in ms between the starts of two batches: larger ones cost less. A single event is
   * applied at once. For background work.
   */
  readonly gatherMs?: number;
  /** Called after the transaction committed, to wake workers. It may be lost in a crash: nothing durable here. */
  afterCommit?(events: readonly RecordedAs<Events>[]): void;
  /** Read models only: their tables, which a rebuild replaces. Absent for sagas, which never replay. */
  readonly tables?: ReadModelTables;
  /**
   * Read models only: a fast way to fill empty tables in `schema`, before they have their indexes (fold in memory,
   * COPY). The default is to `apply` the whole history.
   */
  fill?(
    history: AsyncIterable<readonly RecordedAs<Events>[]>,
    tx: Transaction,
    schema: string,
  ): Promise<void>;
}

/** A subscription that reads its events as the context declares them: `events` lists their types. */
export function subscriptionOf<Events extends DomainEvent>(
  definition: SubscriptionDefinition<Events>,
): SubscriptionDefinition {
  return definition as unknown as SubscriptionDefinition;
}

/** Tables that follow from the events, up to the checkpoint of that name. */
export type DerivedTables = Pick<
  SubscriptionDefinition,
  'name' | 'events' | 'staysSealed' | 'apply' | 'fill'
> & {
  readonly tables: ReadModelTables;
};

/** Tables of a read model, all in one schema; nothing else writes to them. */
export interface ReadModelTables {
  readonly schema: string;
  readonly names: readonly string[];
  /** Columns of JSON as text in which the order of members may differ: an exported log has another one than the store. */
  readonly json?: readonly string[];
}
