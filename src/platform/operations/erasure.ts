import { methodDecorator } from '../discovered-methods.js';

/** The person to forget. */
export interface ErasedPerson {
  readonly userId: string;
  readonly merchantId: string;
  /** The merchant's id of the person. */
  readonly externalId: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly erasedAt: string;
}

/**
 * Declares the method that drops a context's data of an erased person (ADR 127), with the name of the context. It is safe to
 * kill and to repeat, also after its end. It returns false while a part has to wait; the erasure retries later.
 */
export const Forgets = methodDecorator<
  string,
  (person: ErasedPerson, signal: AbortSignal) => Promise<boolean>
>();
