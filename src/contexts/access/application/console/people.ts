import type { Passkey } from '../../domain/operator.js';

/** An operator who may sign in. */
export interface Person {
  readonly operatorId: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly scopes: ReadonlySet<string>;
  /** Logins from before are worth nothing; null: never. */
  readonly disabledAt: Date | null;
}

/** How a passkey is added, for the operation. */
export interface Enrolment {
  readonly reason: string;
  readonly address: string;
  /** Null: by a one-time link. */
  readonly sessionId: string | null;
}

/** Operators as logins see them. */
export abstract class People {
  /** Null for one who is unknown, disabled, or not approved yet. Within two seconds of the change. */
  abstract find(operatorId: string): Promise<Person | null>;
  abstract findByEmail(email: string): Promise<Person | null>;
  abstract passkeysOf(operatorId: string): Promise<readonly Passkey[]>;
  /** An operation of the person. */
  abstract addPasskey(person: Person, passkey: Passkey, by: Enrolment): Promise<void>;
  /**
   * A role by the groups of the identity provider, as an operation of the person. False where it would give anything that
   * the role has not now: nothing has changed then.
   */
  abstract lowerRole(person: Person, role: string, address: string): Promise<boolean>;
}
