import { randomBytes } from 'node:crypto';
import type { CommandBus } from '@nestjs/cqrs';
import {
  IssueAdminKey,
  IssueAdminKeyHandler,
  RollAdminKeyHandler,
} from '../../../src/contexts/access/application/admin-key-commands.js';
import type { LoginLinks } from '../../../src/contexts/access/application/console/login-links.js';
import {
  IssueCredential,
  IssueCredentialHandler,
  RevokeCredential,
  RevokeCredentialHandler,
  RollCredential,
  RollCredentialHandler,
} from '../../../src/contexts/access/application/credential-commands.js';
import { People } from '../../../src/contexts/access/application/console/people.js';
import { CredentialSecrets } from '../../../src/contexts/access/application/credential-secrets.js';
import { AccessCommands } from '../../../src/contexts/access/application/access-commands.js';
import {
  CreateOperator,
  CreateOperatorHandler,
  UpdateOperator,
  UpdateOperatorHandler,
  AddPasskeyHandler,
  LowerRoleHandler,
} from '../../../src/contexts/access/application/operator-commands.js';
import { StoredOperators } from '../../../src/contexts/access/application/operator-directory.js';
import type { AdminKeyDirectory } from '../../../src/contexts/access/application/known-admin-keys.js';
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
import type { AnyCommand } from '../../../src/platform/operations/operation.js';
import type { Requester } from '../../../src/platform/operations/operations.js';
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

/** The operations that {@link RightsWorld.run} requests. */
const COMMANDS = {
  'credentials.issue': IssueCredential,
  'credentials.roll': RollCredential,
  'credentials.revoke': RevokeCredential,
  'operators.update': UpdateOperator,
};

function handlersOn(
  loop: CommandLoop,
  clock: Clock,
  bus: CommandBus,
  persons: readonly string[],
): readonly object[] {
  const access = new AccessCommands(loop, clock, secrets, progress);
  // Those who are none any more are sorted out by their streams.
  const operators = {
    administrators: async () => persons,
    count: async () => persons.length,
  } as unknown as OperatorsView;
  const config = { adminOidcIssuer: 'https://id.example' };
  return [
    new IssueAdminKeyHandler(access, loop, secrets),
    new RollAdminKeyHandler(access, loop, secrets, clock),
    new IssueCredentialHandler(access, secrets, bus),
    new RollCredentialHandler(access, secrets, bus),
    new RevokeCredentialHandler(access, bus),
    new CreateOperatorHandler(access, loop, keyedHash, operators, {} as LoginLinks, config),
    new UpdateOperatorHandler(access, loop, operators, progress),
    new AddPasskeyHandler(access),
    new LowerRoleHandler(access),
  ];
}

/** Persons and their admin keys, with the operations of the service on an event store in memory. */
export class RightsWorld {
  readonly persons: string[] = [];
  readonly keys: string[] = [];
  private now = Date.parse('2026-01-02T03:04:05.000Z');
  private readonly bench = operationsOn({
    events: [
      ...operatorHistory.events,
      ...adminKeyHistory.events,
      'claim.taken.v1',
      'claim.owner_abandoned.v1',
    ],
    operators: (loop) => new StoredOperators({} as AdminKeyDirectory, loop),
    handlers: (loop, clock, bus) => handlersOn(loop, clock, bus, this.persons),
    now: () => new Date(this.now),
  });
  /** As logins change persons. */
  readonly people = new People({} as OperatorsView, this.bench.loop, this.bench.operations);

  pass(ms: number): void {
    this.now += ms;
  }

  /** A person with one key that has all scopes of the role. */
  async add(role: Role): Promise<void> {
    const operatorId = newId();
    const person = { name: 'Person', email: `${operatorId}@ops.example`, role };
    await this.bench.bus.execute(new CreateOperator(operatorId, person));
    const order = {
      operatorId,
      name: 'first',
      scopes: null,
      merchants: null,
      addresses: [],
      expiresAt: null,
    };
    const keyId = newId();
    await this.bench.bus.execute(new IssueAdminKey(keyId, order, false));
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
    request: {
      readonly name: keyof typeof COMMANDS;
      readonly parameters: object;
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
      const Kind = COMMANDS[name] as unknown as new (id: string, parameters: object) => AnyCommand;
      const command = new Kind(id, parameters);
      const { operation } = await operations.request(command, { ...common, requester, revision });
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
