import { Injectable } from '@nestjs/common';
import { isUuid } from '../../../../kernel/ids.js';
import { CommandLoop } from '../../../../platform/event-store/command-loop.js';
import { Operations, type OperationRequest } from '../../../../platform/operations/operations.js';
import { operatorPerson, type Passkey } from '../../domain/operator.js';
import { isRole, ROLE_SCOPES, scopesGained } from '../../domain/roles.js';
import { OperatorsView, type OperatorRow } from '../../views/operators.js';
import { People, type Enrolment, type Person } from './people.js';

/** What a login changes of its person is the person's own: no role is needed for it. */
const OWN_CHANGES: ReadonlySet<string> = new Set(['operators:write']);

/** {@link People} from the directory of operators; passkeys are in the operators' own streams. */
@Injectable()
export class KnownPeople extends People {
  constructor(
    private readonly operators: OperatorsView,
    private readonly loop: CommandLoop,
    private readonly operations: Operations,
  ) {
    super();
  }

  async find(operatorId: string): Promise<Person | null> {
    return isUuid(operatorId) ? personOf(await this.operators.operator(operatorId)) : null;
  }

  async findByEmail(email: string): Promise<Person | null> {
    return personOf(await this.operators.byEmail(email));
  }

  async passkeysOf(operatorId: string): Promise<readonly Passkey[]> {
    const { state } = await this.loop.load(operatorPerson, operatorId);
    return state.status === 'unknown' ? [] : state.passkeys;
  }

  async addPasskey(person: Person, passkey: Passkey, by: Enrolment): Promise<void> {
    await this.change(person, { name: 'operators.add_passkey', parameters: { ...passkey } }, by);
  }

  async lowerRole(person: Person, role: string, address: string): Promise<boolean> {
    const { state } = await this.loop.load(operatorPerson, person.operatorId);
    if (state.status !== 'active' || !isRole(role) || scopesGained(role, state.role).length > 0) return false;
    if (role === state.role) return true;
    const by = { reason: 'the groups at the identity provider', address, sessionId: null };
    await this.change(person, { name: 'operators.lower_role', parameters: { role } }, by);
    return true;
  }

  private async change(
    { operatorId, name, role }: Person,
    operation: Pick<OperationRequest, 'name' | 'parameters'>,
    { reason, address, sessionId }: Enrolment,
  ): Promise<void> {
    await this.operations.request({
      ...operation,
      subject: { id: operatorId, revision: null },
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

function personOf(row: OperatorRow | null): Person | null {
  if (row === null || row.status === 'disabled') return null;
  const { operatorId, name, email, role, disabledAt } = row;
  const scopes = new Set(isRole(role) ? ROLE_SCOPES[role] : []);
  return { operatorId, name, email, role, scopes, disabledAt };
}
