import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { OperatorDirectory } from '../../../platform/operations/operator-directory.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { operatorPerson } from '../domain/operator.js';
import { effectiveScopes, SCOPES } from '../domain/roles.js';
import { CredentialDirectory } from './credential-directory.js';

/** The people whose admin keys programs are run with. */
@Injectable()
export class StoredOperators extends OperatorDirectory {
  readonly allScopes: ReadonlySet<string> = new Set(SCOPES);

  constructor(
    private readonly keys: CredentialDirectory,
    private readonly loop: CommandLoop,
  ) {
    super();
  }

  async personOf(key: string): Promise<Requester | null> {
    const found = await this.keys.findAdminKey(key);
    if (found === null) return null;
    const { addresses, expiresAt: _, ...person } = found;
    if (addresses.length > 0)
      throw new DomainError('forbidden', 'The key is confined to network ranges: a program has no address');
    return { ...person, address: null };
  }

  async scopesOf(operatorId: string): Promise<ReadonlySet<string> | null> {
    const { state } = await this.loop.load(operatorPerson, operatorId);
    return state.status === 'active' ? effectiveScopes(SCOPES, state.role) : null;
  }
}
