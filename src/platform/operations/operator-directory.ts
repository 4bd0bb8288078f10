/** What persons may do when operations are decided. The access context provides it. */
export abstract class OperatorDirectory {
  /** Every scope there is: the shell of the machine has them. */
  abstract readonly allScopes: ReadonlySet<string>;
  /** What the role of the person gives now, by its events; null for one who is unknown or disabled. */
  abstract scopesOf(operatorId: string): Promise<ReadonlySet<string> | null>;
}
