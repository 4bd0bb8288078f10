import { methodDecorator } from '../discovered-methods.js';

/** The person to forget. */
export interface ErasedPerson {
  readonly userId: string;
  readonly merchantId: string;
  /** The merchant's own name for the person. */
  readonly externalId: string | null;
  /** The times at which the user was created and erased, ISO 8601. */
  readonly createdAt: string;
  readonly erasedAt: string;
}

/**
 * Declares the method that drops what a context keeps of an erased person (ADR 127), with the name of the context. It must
 * be safe to kill and to repeat, also after it has finished. It returns false when a part has to wait: the erasure calls
 * it again later.
 */
export const Forgets = methodDecorator<
  string,
  (person: ErasedPerson, signal: AbortSignal) => Promise<boolean>
>();
