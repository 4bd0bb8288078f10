import type { PoolClient } from 'pg';
import type { DomainEvent } from '../../kernel/aggregate.js';
import type { RecordedEvent } from '../event-store/port.js';

/** The database transaction of a batch of events and its checkpoint. */
export type Transaction = PoolClient;

const declared = new Set<string>();

/** The names of the subscriptions whose files were loaded. */
export const declaredSubscriptions: ReadonlySet<string> = declared;

/** Declares the name of a subscription, which must be in `readModels` or provided by `provideSaga`. */
export function subscriptionName(name: string): string {
  declared.add(name);
  return name;
}

/** The recorded events with the types and data of their context. */
type RecordedAs<Events extends DomainEvent> = Events extends DomainEvent
  ? Omit<RecordedEvent, 'type' | 'data'> & Pick<Events, 'type' | 'data'>
  : never;

/**
 * A consumer of the log that writes rows: a read model, or a saga, which records work or commands. The runner
 * commits a batch and its checkpoint in one transaction.
 */
export interface SubscriptionDefinition<Events extends DomainEvent = RecordedEvent> {
  /** The name of the subscription and its checkpoint, for example `payouts.views`. */
  readonly name: string;
  /** The types of the applied events. Events of other types only move the checkpoint. */
  readonly events: readonly string[];
  /** Passes events of all types to `apply`, undecoded. Reads and readiness ignore this subscription. */
  readonly wholeLog?: true;
  /** Leaves personal fields sealed, so that an erasure also covers the rows. */
  readonly staysSealed?: true;
  /** Applies events idempotently, with one statement per kind of row, in `schema` if given. */
  apply(events: readonly RecordedAs<Events>[], tx: Transaction, schema?: string): Promise<void>;
  /** The minimum time between the starts of two batches. Larger batches cost less. */
  readonly gatherMs?: number;
  /** Wakes workers after the commit. A crash may prevent this call. */
  afterCommit?(events: readonly RecordedAs<Events>[]): void;
  /** The tables that a rebuild replaces. A saga has none, because its events must not be applied again. */
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
