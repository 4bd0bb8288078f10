import type { Requester } from './operations.js';

/** Who holds an admin key, for programs of operators. The access context provides it. */
export abstract class KeyHolders {
  /** Every scope there is: the shell of the machine has them. */
  abstract readonly allScopes: ReadonlySet<string>;
  /** Null for what is no valid admin key. Throws `forbidden` for a key that is confined to network ranges: a program has no address. */
  abstract personOf(key: string): Promise<Requester | null>;
}
