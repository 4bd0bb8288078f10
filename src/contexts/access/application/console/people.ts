import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { isUuid } from '../../../../kernel/ids.js';
import { CommandLoop } from '../../../../platform/event-store/command-loop.js';
import { operatorPerson, type Passkey } from '../../domain/operator.js';
import { isRole, ROLE_SCOPES, scopesGained } from '../../domain/roles.js';
import { OperatorsView, type OperatorRow } from '../../views/operators.js';
import { AddPasskey, UpdateOperator } from '../operator-commands.js';

/** An operator who may sign in. */
export interface Person {
  readonly operatorId: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly scopes: ReadonlySet<string>;
}

/** Operators as logins see them, from their directory; passkeys are in their own streams. */
@Injectable()
export class People {
  constructor(
    private readonly operators: OperatorsView,
    private readonly loop: CommandLoop,
    private readonly commands: CommandBus,
  ) {}

  /** Null for one who is unknown, disabled, or not approved yet. Within two seconds of the change. */
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

  async addPasskey(operatorId: string, passkey: Passkey): Promise<void> {
    await this.commands.execute(new AddPasskey(operatorId, passkey));
  }

  /** A role by the groups of the identity provider: only one that gives nothing that the former role did not. */
  async lowerRole(operatorId: string, role: string): Promise<boolean> {
    const row = await this.operators.operator(operatorId);
    if (row === null || !isRole(role) || scopesGained(role, row.role).length > 0) return false;
    await this.commands.execute(new UpdateOperator(operatorId, { role }));
    return true;
  }
}

function personOf(row: OperatorRow | null): Person | null {
  if (row === null || row.status === 'disabled') return null;
  const { operatorId, name, email, role } = row;
  return { operatorId, name, email, role, scopes: new Set(isRole(role) ? ROLE_SCOPES[role] : []) };
}
