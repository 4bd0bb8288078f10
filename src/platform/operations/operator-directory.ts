import type { Requester } from './operations.js';

/** Who holds an admin key, for programs of operators, and what persons may do when operations are decided. The access context provides it. */
export abstract class OperatorDirectory {
  /** Every scope there is: the shell of the machine has them. */
  abstract readonly allScopes: ReadonlySet<string>;
  /** Null for what is no valid admin key. Throws `forbidden` for a key that is confined to network ranges: a program has no address. */
  abstract personOf(key: string): Promise<Requester | null>;
  /** What the role of the person gives now, by its events; null for one who is unknown or disabled. */
  abstract scopesOf(operatorId: string): Promise<ReadonlySet<string> | null>;
}
