import { randomBytes } from 'node:crypto';
import { CommandBus } from '@nestjs/cqrs';
import {
  IssueAdminKey,
  IssueAdminKeyHandler,
  RollAdminKey,
  RollAdminKeyHandler,
  ActivateAdminKey,
  ActivateAdminKeyHandler,
  RevokeAdminKey,
  RevokeAdminKeyHandler,
} from '../../../src/contexts/access/application/admin-key-commands.js';
import { credentialOperations } from '../../../src/contexts/access/application/credential-operations.js';
import { People } from '../../../src/contexts/access/application/console/people.js';
import { CredentialSecrets } from '../../../src/contexts/access/application/credential-secrets.js';
import { AccessCommands } from '../../../src/contexts/access/application/access-commands.js';
import {
  CreateOperator,
  CreateOperatorHandler,
  UpdateOperator,
  UpdateOperatorHandler,
  AddPasskey,
  AddPasskeyHandler,
} from '../../../src/contexts/access/application/operator-commands.js';
import { StoredOperators } from '../../../src/contexts/access/application/operator-directory.js';
import type { AdminKeyDirectory } from '../../../src/contexts/access/application/known-admin-keys.js';
import { operatorOperations } from '../../../src/contexts/access/application/operator-operations.js';
import {
  adminKey,
  knownAdminKey,
  type KnownAdminKey,
} from '../../../src/contexts/access/domain/admin-key.js';
import { adminKeyHistory, operatorHistory } from '../../../src/contexts/access/domain/history.js';
import {
  knownOperator,
  operatorPerson,
  type KnownOperator,
} from '../../../src/contexts/access/domain/operator.js';
import { effectiveScopes, type Role } from '../../../src/contexts/access/domain/roles.js';
import { OperatorsView } from '../../../src/contexts/access/views/operators.js';
import { isOver } from '../../../src/contexts/access/domain/validity.js';
import { timestamp, type Clock } from '../../../src/kernel/clock.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { deriveId, newId } from '../../../src/kernel/ids.js';
import type { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { CommandLoop as Loop } from '../../../src/platform/event-store/command-loop.js';
import type { OperationRequest, Requester } from '../../../src/platform/operations/operations.js';
import { SubscriptionProgress } from '../../../src/platform/projections/subscription-progress.js';
import { KeyedHash } from '../../../src/platform/sealing/keyed-hash.js';
import { Sealer } from '../../../src/platform/sealing/sealer.js';
import { operationsOn } from '../operations/operations-harness.js';
import { newSecretsInMemory } from './new-secrets.js';

const keyedHash = new KeyedHash(randomBytes(32));
const secrets = new CredentialSecrets(new Sealer(randomBytes(32)), keyedHash, newSecretsInMemory(), {
  mode: 'sandbox',
});
const progress = {
  waitFor: async () => true,
  requireCurrent: async () => undefined,
} as unknown as SubscriptionProgress;

function commandsOn(
  loop: CommandLoop,
  clock: Clock,
  persons: readonly string[],
): ReadonlyMap<unknown, unknown> {
  const access = new AccessCommands(loop, clock, secrets, progress);
  const handlers = new Map<unknown, { execute(command: never): Promise<unknown> }>([
    [IssueAdminKey, new IssueAdminKeyHandler(access, loop, secrets)],
    [RollAdminKey, new RollAdminKeyHandler(access, loop, secrets, clock)],
    [CreateOperator, new CreateOperatorHandler(access, keyedHash)],
    [ActivateAdminKey, new ActivateAdminKeyHandler(access)],
    [RevokeAdminKey, new RevokeAdminKeyHandler(access)],
    [UpdateOperator, new UpdateOperatorHandler(access)],
    [AddPasskey, new AddPasskeyHandler(access)],
  ]);
  const execute = (command: object): Promise<unknown> =>
    handlers.get(command.constructor)!.execute(command as never);
  return new Map<unknown, unknown>([
    [CommandBus, { execute }],
    [Loop, loop],
    [CredentialSecrets, secrets],
    [SubscriptionProgress, progress],
    // Those who are none any more are sorted out by their streams.
    [OperatorsView, { administrators: async () => persons, count: async () => persons.length }],
  ]);
}

/** Persons and their admin keys, with the operations of the service on an event store in memory. */
export class RightsWorld {
  readonly persons: string[] = [];
  readonly keys: string[] = [];
  private now = Date.parse('2026-01-02T03:04:05.000Z');
  private readonly bench = operationsOn({
    definitions: [...credentialOperations, ...operatorOperations],
    events: [
      ...operatorHistory.events,
      ...adminKeyHistory.events,
      'claim.taken.v1',
      'claim.owner_abandoned.v1',
    ],
    operators: (loop) => new StoredOperators({} as AdminKeyDirectory, loop),
    provide: (loop, clock) => commandsOn(loop, clock, this.persons),
    now: () => new Date(this.now),
  });
  /** As logins change persons. */
  readonly people = new People({} as OperatorsView, this.bench.loop, this.bench.operations);
  private readonly commands = commandsOn(this.bench.loop, this.bench.clock, this.persons).get(
    CommandBus,
  ) as CommandBus;

  pass(ms: number): void {
    this.now += ms;
  }

  /** A person with one key that has all scopes of the role. */
  async add(role: Role): Promise<void> {
    const operatorId = newId();
    const person = { name: 'Person', email: `${operatorId}@ops.example`, role };
    await this.commands.execute(new CreateOperator(operatorId, person));
    const order = {
      operatorId,
      name: 'first',
      scopes: null,
      merchants: null,
      addresses: [],
      expiresAt: null,
    };
    const keyId = newId();
    await this.commands.execute(new IssueAdminKey(keyId, order, false));
    this.persons.push(operatorId);
    this.keys.push(keyId);
  }

  async person(id: string): Promise<KnownOperator> {
    return knownOperator((await this.bench.loop.load(operatorPerson, id)).state);
  }

  async key(id: string): Promise<KnownAdminKey> {
    return knownAdminKey((await this.bench.loop.load(adminKey, id)).state);
  }

  /** What the key may do now, as the admin API lets it in. */
  async rights(keyId: string): Promise<ReadonlySet<string>> {
    const { status, endsAt, issued } = await this.key(keyId);
    const person = await this.person(issued.operator_id);
    const isDead =
      status === 'pending' ||
      status === 'revoked' ||
      person.status === 'disabled' ||
      (endsAt !== null && isOver(endsAt, timestamp(this.bench.clock)));
    return isDead ? new Set() : effectiveScopes(issued.scopes, person.role);
  }

  async requester(keyId: string): Promise<Requester> {
    const { issued } = await this.key(keyId);
    const { name, role } = await this.person(issued.operator_id);
    const caller = { operatorId: issued.operator_id, name, role, credentialId: keyId };
    return { ...caller, address: null, merchants: null, scopes: await this.rights(keyId) };
  }

  /** The subject's id once the operation is requested and, where a second person is needed, decided; null where it was refused. */
  async run(
    request: Pick<OperationRequest, 'name' | 'parameters'> & {
      readonly subject: string;
      readonly isNew?: true;
    },
    byKey: string,
    { decider, decision }: { readonly decider: string; readonly decision: 'approve' | 'reject' },
  ): Promise<{ readonly operationId: string; readonly approved: boolean } | null> {
    const { name, parameters, subject: id, isNew } = request;
    const { operations, decisions } = this.bench;
    const streams = name.startsWith('operators') ? [`operator-${id}`] : [`admin_key-${id}`];
    try {
      const revision = isNew ? null : await operations.revisionOf(streams);
      const requester = await this.requester(byKey);
      const common = { reason: 'a property', ticket: null, merchantId: null };
      const { operation } = await operations.request({
        ...common,
        name,
        parameters,
        requester,
        subject: { id, revision },
      });
      if (operation.status !== 'pending_approval') return { operationId: operation.id, approved: false };
      await decisions[decision](operation.id, await this.requester(decider), 'a property');
      return { operationId: operation.id, approved: decision === 'approve' };
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }
}

/** The id of the key that an operation rolled another to. */
export function rolledTo(operationId: string): string {
  return deriveId(operationId, 'credential');
}
