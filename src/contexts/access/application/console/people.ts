import type { Passkey } from '../../domain/operator.js';

/** An operator who may sign in. */
export interface Person {
  readonly operatorId: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly scopes: ReadonlySet<string>;
}

/** Operators as logins see them. */
export abstract class People {
  /** Null for one who is unknown, disabled, or not approved yet. Within two seconds of the change. */
  abstract find(operatorId: string): Promise<Person | null>;
  abstract findByEmail(email: string): Promise<Person | null>;
  abstract passkeysOf(operatorId: string): Promise<readonly Passkey[]>;
  abstract addPasskey(operatorId: string, passkey: Passkey): Promise<void>;
  /** A role by the groups of the identity provider: only one that gives nothing that the former role did not. */
  abstract lowerRole(operatorId: string, role: string): Promise<boolean>;
}
