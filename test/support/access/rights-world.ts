import { randomBytes } from 'node:crypto';
import type { LoginSecrets } from '../../../src/contexts/access/console/console-sessions.store.js';
import {
  IssueCredential,
  IssueCredentialHandler,
  plainOrder,
  RevokeCredential,
  RevokeCredentialHandler,
  RollCredential,
  RollCredentialHandler,
} from '../../../src/contexts/access/credentials/credentials.commands.js';
import { People } from '../../../src/contexts/access/console/people.service.js';
import { CredentialSecrets } from '../../../src/contexts/access/credentials/credential-secrets.service.js';
import { AccessCommands } from '../../../src/contexts/access/merchants/merchants.commands.js';
import {
  CreateOperator,
  CreateOperatorHandler,
  UpdateOperator,
  UpdateOperatorHandler,
  AddPasskeyHandler,
  LowerRoleHandler,
} from '../../../src/contexts/access/operators/operators.commands.js';
import { CredentialDirectory } from '../../../src/contexts/access/credentials/credential-directory.service.js';
import {
  credentialHistory,
  credentials,
  isValid,
  type Credential,
} from '../../../src/contexts/access/credentials/credentials.js';
import {
  requireOperator,
  operatorHistory,
  operatorPerson,
  type Operator,
} from '../../../src/contexts/access/operators/operator.js';
import { effectiveScopes, type Role } from '../../../src/contexts/access/operators/roles.js';
import type { CredentialIndex } from '../../../src/contexts/access/credentials/credentials.view.js';
import { OperatorsView } from '../../../src/contexts/access/merchants/directory.view.js';
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
import { accessConfig } from '../../../src/contexts/access/access.config.js';
import { processConfig } from '../../../src/platform/config/config.js';

const keyedHash = new KeyedHash(randomBytes(32));
const secrets = new CredentialSecrets(
  new Sealer(randomBytes(32)),
  keyedHash,
  newSecretsInMemory(),
  processConfig({}),
);
const progress = {
  waitFor: async () => true,
  requireCurrent: async () => undefined,
} as unknown as SubscriptionProgress;

const COMMANDS = {
  'credentials.issue': IssueCredential,
  'credentials.roll': RollCredential,
  'credentials.revoke': RevokeCredential,
  'operators.update': UpdateOperator,
};

function handlersOn(loop: CommandLoop, clock: Clock, persons: readonly string[]): readonly object[] {
  const access = new AccessCommands(loop, clock, progress);
  // Former operators are excluded by their streams.
  const operators = {
    administrators: async () => persons,
    count: async () => persons.length,
  } as unknown as OperatorsView;
  const config = accessConfig({ ADMIN_OIDC_ISSUER: 'https://id.example' });
  return [
    new IssueCredentialHandler(access, secrets),
    new RollCredentialHandler(access, secrets),
    new RevokeCredentialHandler(access),
    new CreateOperatorHandler(access, keyedHash, operators, {} as LoginSecrets, config),
    new UpdateOperatorHandler(access, loop, operators, progress),
    new AddPasskeyHandler(access),
    new LowerRoleHandler(access),
  ];
}

/** Persons and their admin keys, with the operations of the service on an event store in memory. */
export class RightsWorld {
  readonly persons: string[] = [];
  readonly keys: string[] = [];
  private readonly owners = new Map<string, string>();
  private readonly seen = new Map<string, Credential>();
  private now = Date.parse('2026-01-02T03:04:05.000Z');
  private readonly bench = operationsOn({
    events: [
      ...operatorHistory.events,
      ...credentialHistory.events,
      'claim.taken.v1',
      'claim.owner_abandoned.v1',
    ],
    operators: (loop) =>
      new CredentialDirectory({} as CredentialIndex, loop, secrets, { now: () => new Date() }),
    handlers: (loop, clock) => handlersOn(loop, clock, this.persons),
    now: () => new Date(this.now),
  });
  /** Changes persons like a login. */
  readonly people = new People({} as OperatorsView, this.bench.loop, this.bench.operations);

  pass(ms: number): void {
    this.now += ms;
  }

  /** Adds a person with one key that has all scopes of the role. */
  async add(role: Role): Promise<void> {
    const operatorId = newId();
    const person = { name: 'Person', email: `${operatorId}@ops.example`, role };
    await this.bench.bus.execute(new CreateOperator(operatorId, person));
    const keyId = newId();
    const order = plainOrder({ kind: 'admin', name: 'first', operator_id: operatorId });
    await this.bench.bus.execute(new IssueCredential(keyId, order));
    this.owners.set(keyId, operatorId);
    await this.key(keyId);
    this.persons.push(operatorId);
    this.keys.push(keyId);
  }

  async person(id: string): Promise<Operator> {
    return requireOperator((await this.bench.loop.load(operatorPerson, id)).state);
  }

  /** Returns the issued credential, also after its revocation. */
  async key(id: string): Promise<{ readonly issued: Credential; readonly isRevoked: boolean }> {
    const { state } = await this.bench.loop.load(credentials, this.owners.get(id)!);
    const found = state.credentials.find(({ credential_id }) => credential_id === id);
    if (found !== undefined) this.seen.set(id, found);
    return { issued: this.seen.get(id)!, isRevoked: found === undefined };
  }

  /** Returns the present rights of the key at the admin API. */
  async rights(keyId: string): Promise<ReadonlySet<string>> {
    const { issued, isRevoked } = await this.key(keyId);
    const person = await this.person(issued.owner_id);
    const isAlive = !isRevoked && isValid(issued, timestamp(this.bench.clock));
    return !isAlive || person.status === 'disabled' ? new Set() : effectiveScopes(issued.scopes, person.role);
  }

  async requester(keyId: string): Promise<Requester> {
    const { issued } = await this.key(keyId);
    const { name, role } = await this.person(issued.owner_id);
    const caller = { operatorId: issued.owner_id, name, role, credentialId: keyId };
    return { ...caller, address: null, merchants: null, scopes: await this.rights(keyId) };
  }

  /** Returns the subject's id once the operation is requested and, if needed, decided; null if refused. */
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
    const { name, subject: id, isNew } = request;
    const isOfKey = name.startsWith('credentials');
    const given = request.parameters as { readonly operator_id?: string };
    const operator_id = given.operator_id ?? this.owners.get(id);
    if (isNew && operator_id !== undefined) this.owners.set(id, operator_id);
    const parameters = isOfKey ? { ...plainOrder({ kind: 'admin' }), ...given, operator_id } : given;
    const { operations } = this.bench;
    const streams = [isOfKey ? `credentials-${operator_id}` : `operator-${id}`];
    try {
      const revision = isNew ? null : await operations.findRevision(streams);
      const requester = await this.requester(byKey);
      const common = { reason: 'a property', ticket: null, merchantId: null };
      const Kind = COMMANDS[name] as unknown as new (id: string, parameters: object) => AnyCommand;
      const command = new Kind(id, parameters);
      const { operation } = await operations.request(command, { ...common, requester, revision });
      if (name === 'credentials.roll') this.owners.set(rolledTo(operation.id), operator_id!);
      if (operation.status !== 'pending_approval') return { operationId: operation.id, approved: false };
      await operations.decide(decision, operation.id, await this.requester(decider), 'a property');
      return { operationId: operation.id, approved: decision === 'approve' };
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }
}

/** The id of the key that replaces the one rolled by an operation. */
export const rolledTo = (operationId: string): string => deriveId(operationId, 'credential');
