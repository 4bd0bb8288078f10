import { methodDecorator } from '../discovered-methods.js';

export interface ErasedPerson {
  readonly userId: string;
  readonly merchantId: string;
  /** The id that the merchant uses for the person. */
  readonly externalId: string | null;
  /** The time in ISO 8601. */
  readonly createdAt: string;
  readonly erasedAt: string;
}

/**
 * Declares the method by which a context drops the data of an erased person (ADR 127). The value is the
 * context's name. The method may be killed and repeated. It returns false to be called again later.
 */
export const Forgets = methodDecorator<
  string,
  (person: ErasedPerson, signal: AbortSignal) => Promise<boolean>
>();
