import { AsyncLocalStorage } from 'node:async_hooks';
import { DomainError } from '../../kernel/domain-error.js';

/** An operation of an operator while its change is written (ADR 176). */
export interface CurrentOperation {
  readonly id: string;
  /**
   * Revisions of the streams of its subject that the change rests on; null: the stream does not exist yet. The command loop
   * removes a stream that it wrote to.
   */
  readonly expected: Map<string, number | null>;
  /** The command loop adds each event that it wrote. */
  readonly written: { readonly stream: string; readonly eventId: string; readonly type: string }[];
  /** Its own stream: its first commit requires that the operation is still at this revision, so neither decided nor ended. */
  readonly own?: { readonly stream: string; readonly revision: number };
}

const storage = new AsyncLocalStorage<CurrentOperation>();

/** Runs `work`, whose commands name the operation as the cause of their events and keep to the expected revisions. */
export function withinOperation<T>(operation: CurrentOperation, work: () => Promise<T>): Promise<T> {
  return storage.run(operation, work);
}

export function currentOperation(): CurrentOperation | undefined {
  return storage.getStore();
}

/** The subject of the operation changed since its operator read it: nothing was written. */
export class SubjectChanged extends DomainError {
  constructor() {
    super('invalid_transition', 'The subject was changed in the meantime');
  }
}
