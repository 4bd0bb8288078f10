import type { DiscoveryService } from '@nestjs/core';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Definitions } from '../../../src/contexts/operations/operations/definitions.service.js';
import { Execution } from '../../../src/contexts/operations/operations/execution.service.js';
import { OperationsService } from '../../../src/contexts/operations/operations/operations.service.js';
import { SettlingProcessor } from '../../../src/contexts/operations/operations/settling.processor.js';
import { operationHistory } from '../../../src/contexts/operations/operations/operation.js';
import type { Aggregate, DomainEvent } from '../../../src/kernel/aggregate.js';
import type { Clock } from '../../../src/kernel/clock.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import type { EventStore } from '../../../src/platform/event-store/port.js';
import type {
  OperatorDirectory,
  OperationRequest,
  Requester,
} from '../../../src/platform/operations/operations.js';
import {
  OPERATIONS,
  Operation,
  OperatorCommand,
  type AnyCommand,
  type OperationFacts,
  type OperationHandler,
} from '../../../src/platform/operations/operation.js';
import { ClockCheck } from '../../../src/platform/postgres/clock-check.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import type { WorkItems } from '../../../src/platform/jobs/work-items.js';
import { InMemoryEventStore } from '../in-memory-event-store.js';
import { storeConfig } from '../../../src/platform/config/config.js';
import { operationsConfig } from '../../../src/contexts/operations/operations.config.js';

type LampEvent = DomainEvent<'lamp.switched.v1', { readonly on: boolean; readonly by: string | null }>;

/** The subject of these specs' operations. */
export const lamp: Aggregate<{ readonly on: boolean; readonly count: number }, LampEvent> = {
  category: 'lamp',
  initial: { on: false, count: 0 },
  evolve: ({ count }, { data }) => ({ on: data.on, count: count + 1 }),
};

type LampParameters = { readonly on: boolean };
type LampCommand = new (
  id: string,
  parameters: LampParameters,
) => OperatorCommand<LampParameters, object | void>;

/** Operations on lamps by name, each with one class of commands. */
const COMMANDS = new Map<string, LampCommand>();

/** The declarations of COMMANDS. A service in the same process has no handlers for them. */
export const LAMP_OPERATIONS: typeof OPERATIONS = new Map();

export function lampHandler(
  name: string,
  { streams = (id) => [`lamp-${id}`], ...facts }: Partial<OperationFacts>,
  functions: OperationHandler<OperatorCommand<LampParameters, object | void>>,
): ICommandHandler {
  // One class for every process, like in a service.
  const command = COMMANDS.get(name) ?? class extends OperatorCommand<LampParameters, object | void> {};
  Operation({ scope: 'merchants:write', subject: 'lamp', ...facts, streams, name } as OperationFacts<object>)(
    command,
  );
  COMMANDS.set(name, command);
  LAMP_OPERATIONS.set(command, OPERATIONS.get(command)!);
  OPERATIONS.delete(command);
  class LampHandler {}
  CommandHandler(command)(LampHandler);
  return Object.assign(new LampHandler(), functions) as unknown as ICommandHandler;
}

interface BenchOptions {
  readonly store?: EventStore;
  readonly approvals?: 'on' | 'off';
  readonly now?: () => Date;
  /** The clock of the database; by default that of the process. */
  readonly databaseNow?: () => Date;
  readonly handlers?: (loop: CommandLoop, clock: Clock, bus: CommandBus) => readonly object[];
  /** Names of the events that these handlers write. */
  readonly events?: readonly string[];
  /** The persons' permissions at a decision; all by default. */
  readonly operators?: (loop: CommandLoop) => Pick<OperatorDirectory, 'findScopes'>;
  /** Called before and after an operation switches a lamp. */
  readonly around?: (place: 'before' | 'after', id: string) => Promise<void> | void;
}

/** The operations of one process on a store that others may share. */
export function operationsOn({
  store = new InMemoryEventStore(),
  approvals = 'on',
  now = () => new Date(),
  databaseNow = now,
  handlers = () => [],
  events = [],
  operators = () => ({ findScopes: async () => ({ has: () => true }) as unknown as ReadonlySet<string> }),
  around = () => undefined,
}: BenchOptions = {}) {
  const codec = new EventCodec().register(
    [...operationHistory.events, 'lamp.switched.v1', ...events].map((type) => ({ type })),
    'operations',
  );
  const loop = new CommandLoop(store, codec);
  const switchLamp = async (id: string, on: boolean, by: string | null = null): Promise<void> => {
    await loop.execute(
      lamp,
      id,
      (state) => {
        if (state.on === on) throw new DomainError('invalid_transition', `The lamp is ${on ? 'on' : 'off'}`);
        return [{ type: 'lamp.switched.v1', data: { on, by } }];
      },
      { metadata: { actor: 'spec' } },
    );
  };
  const switching = (name: string, secondPerson?: 'before' | 'after') =>
    lampHandler(name, secondPerson ? { secondPerson } : {}, {
      execute: async ({ subjectId, parameters, operation }) => {
        await around('before', operation!.id);
        await switchLamp(subjectId, parameters.on, operation!.id);
        await around('after', operation!.id);
        return { on: parameters.on };
      },
    });
  const clock: Clock = { now };
  const bus = new CommandBus({} as never);
  const providers = [
    switching('lamps.switch'),
    switching('lamps.switch_carefully', 'before'),
    switching('lamps.switch_fast', 'after'),
    ...handlers(loop, clock, bus),
  ].map((instance) => ({ instance, metatype: instance.constructor, isDependencyTreeStatic: () => true }));
  bus.register(providers as never);
  const all = new Definitions({ getProviders: () => providers } as unknown as DiscoveryService);
  for (const [type, facts] of LAMP_OPERATIONS) OPERATIONS.set(type, facts);
  all.discover();
  for (const type of LAMP_OPERATIONS.keys()) OPERATIONS.delete(type);
  const database = { query: async () => [{ now: databaseNow() }] } as unknown as Database;
  const clockCheck = new ClockCheck(storeConfig({}), clock, database);
  const execution = new Execution(loop, store, all, bus, clock);
  const operations = new OperationsService(
    all,
    execution,
    clock,
    { ...operationsConfig({}), operationsApprovals: approvals },
    clockCheck,
    operators(loop) as OperatorDirectory,
  );
  const worker = new SettlingProcessor({} as WorkItems, execution, operations, clock, clockCheck);
  return { store, loop, bus, operations, worker, execution, clock, switchLamp };
}

export function requesterOf(name: string, scopes: readonly string[] = ['merchants:write']): Requester {
  return {
    operatorId: name,
    name,
    role: 'administrator',
    credentialId: null,
    address: null,
    scopes: new Set(scopes),
    merchants: null,
  };
}

interface LampRequest extends OperationRequest {
  readonly name: string;
  readonly subject: { readonly id: string; readonly revision: number | null };
  readonly parameters: LampParameters;
}

/** Requests to switch on the lamp `lamp`, which exists since its revision 0. */
export function switchRequest({
  name = 'lamps.switch',
  subject = { id: 'lamp', revision: 0 },
  parameters = { on: true },
  ...given
}: Partial<LampRequest> = {}): [command: AnyCommand, request: OperationRequest] {
  const request = { reason: 'it is dark', ticket: null, requester: requesterOf('ada'), merchantId: null };
  const command = new (COMMANDS.get(name)!)(subject.id, parameters);
  return [command, { ...request, revision: subject.revision, ...given }];
}
