/** The current scopes of persons, for decisions about operations. The access context provides them. */
export abstract class OperatorDirectory {
  /** Every scope there is: the shell of the machine has them. */
  abstract readonly allScopes: ReadonlySet<string>;
  /** Returns the scopes of the person's role by its events; null for an unknown or disabled person. */
  abstract findScopes(operatorId: string): Promise<ReadonlySet<string> | null>;
}
