import { Injectable } from '@nestjs/common';
import { isUuid } from '../../../../kernel/ids.js';
import { CommandLoop } from '../../../../platform/event-store/command-loop.js';
import type { AnyCommand } from '../../../../platform/operations/operation.js';
import { Operations } from '../../../../platform/operations/operations.js';
import { operatorPerson, type OperatorPerson, type Passkey } from '../../domain/operator.js';
import { isRole, ROLE_SCOPES, scopesGained } from '../../domain/roles.js';
import { OperatorsView } from '../../views/operators.js';
import { AddPasskey, LowerRole } from '../operator-commands.js';

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
interface Enrolment {
  readonly reason: string;
  readonly address: string;
  /** Null: by a one-time link. */
  readonly sessionId: string | null;
}

/** What a login changes of its person is the person's own: no role is needed for it. */
const OWN_CHANGES: ReadonlySet<string> = new Set(['operators:write']);

/** Operators as logins find them: by the events of each. */
@Injectable()
export class People {
  constructor(
    private readonly operators: OperatorsView,
    private readonly loop: CommandLoop,
    private readonly operations: Operations,
  ) {}

  /** Returns the active person from the events, or null: unknown, disabled or not approved yet. */
  async find(operatorId: string): Promise<Person | null> {
    return isUuid(operatorId) ? personIn((await this.loop.load(operatorPerson, operatorId)).state) : null;
  }

  /** The read model only finds the person. */
  async findByEmail(email: string): Promise<Person | null> {
    const found = await this.operators.byEmail(email);
    const person = found && (await this.find(found.id));
    return person?.email.toLowerCase() === email.toLowerCase() ? person : null;
  }

  async passkeysOf(operatorId: string): Promise<readonly Passkey[]> {
    const { state } = await this.loop.load(operatorPerson, operatorId);
    return state.status === 'unknown' ? [] : state.passkeys;
  }

  /** An operation of the person. */
  async addPasskey(person: Person, passkey: Passkey, by: Enrolment): Promise<void> {
    await this.change(person, new AddPasskey(person.operatorId, passkey), by);
  }

  /**
   * A role by the groups of the identity provider, as an operation of the person. False where it would give anything that
   * the role has not now: nothing has changed then.
   */
  async lowerRole(person: Person, role: string, address: string): Promise<boolean> {
    const { state } = await this.loop.load(operatorPerson, person.operatorId);
    if (state.status !== 'active' || !isRole(role) || scopesGained(role, state.role).length > 0) return false;
    if (role === state.role) return true;
    const by = { reason: 'the groups at the identity provider', address, sessionId: null };
    await this.change(person, new LowerRole(person.operatorId, { role }), by);
    return true;
  }

  private async change(
    { operatorId, name, role }: Person,
    command: AnyCommand,
    { reason, address, sessionId }: Enrolment,
  ): Promise<void> {
    await this.operations.request(command, {
      revision: null,
      reason,
      ticket: null,
      requester: {
        operatorId,
        name,
        role,
        credentialId: null,
        address,
        sessionId,
        scopes: OWN_CHANGES,
        merchants: null,
      },
      merchantId: null,
    });
  }
}

function personIn(state: OperatorPerson): Person | null {
  if (state.status !== 'active') return null;
  const { operatorId, name, email, role } = state;
  const scopes = new Set(isRole(role) ? ROLE_SCOPES[role] : []);
  const disabledAt = state.disabledAt === null ? null : new Date(state.disabledAt);
  return { operatorId, name, email, role, scopes, disabledAt };
}
