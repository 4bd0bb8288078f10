import type { PoolClient } from 'pg';
import type { RecordedEvent } from './port.js';

/**
 * A consumer of the one ordered stream whose effects are rows: a read model, or a saga that records work to do.
 * The runner locks the checkpoint row, applies a batch and moves the checkpoint, in one transaction.
 * A definition is handed to the runner by `SubscriptionRegistry.register` in its module's `onModuleInit`.
 */
export interface SubscriptionDefinition {
  /** Name of the checkpoint, for example `payouts.views`. */
  readonly name: string;
  /** Stored event names it wants; others only move the checkpoint. */
  readonly events: readonly string[];
  /**
   * Applies events in order through `tx`: sets, not loops (one statement per kind of row). Personal fields arrive opened.
   * It must be harmless to see an event twice.
   */
  apply(events: readonly RecordedEvent[], tx: PoolClient): Promise<void>;
  /**
   * Under load, the least time in ms between the starts of two batches: larger ones cost less. An event that comes
   * alone is applied at once. For work that nobody waits for.
   */
  readonly gatherMs?: number;
  /** Called after the transaction committed, to wake workers. It may be lost in a crash: nothing durable here. */
  afterCommit?(events: readonly RecordedEvent[]): void;
  /** Read models only: empties the tables before a replay from the first event. Absent for sagas, which never replay. */
  reset?(tx: PoolClient): Promise<void>;
  /** Optional fast rebuild (fold in memory, COPY, then indexes); the default is `reset` and replay. */
  rebuild?(history: AsyncIterable<readonly RecordedEvent[]>, tx: PoolClient): Promise<void>;
}
