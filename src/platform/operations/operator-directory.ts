/** The present scopes of persons. The access context provides them. */
export abstract class OperatorDirectory {
  /** The scopes of the shell of the machine. */
  abstract readonly allScopes: ReadonlySet<string>;
  /** Reads the person's events. Returns null for an unknown or disabled person. */
  abstract findScopes(operatorId: string): Promise<ReadonlySet<string> | null>;
}
