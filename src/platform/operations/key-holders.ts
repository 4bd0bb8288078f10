import type { Requester } from './operations.js';

/** Who holds a key of the admin API, for programs that request operations with one. The access context provides it. */
export abstract class KeyHolders {
  /** Null for a key that the admin API refuses. It has no address: the program runs on a machine of the operator. */
  abstract personOf(key: string): Promise<Requester | null>;
}
