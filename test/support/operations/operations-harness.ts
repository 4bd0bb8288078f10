import type { ModuleRef } from '@nestjs/core';
import { OperationDecisions } from '../../../src/contexts/operations/application/decide-operation.js';
import { Definitions } from '../../../src/contexts/operations/application/definitions.js';
import { Execution } from '../../../src/contexts/operations/application/execution.js';
import { OperationStreams } from '../../../src/contexts/operations/application/operation-streams.js';
import { RequestedOperations } from '../../../src/contexts/operations/application/request-operation.js';
import { SettlingWorker } from '../../../src/contexts/operations/application/settling.js';
import { Subjects } from '../../../src/contexts/operations/application/subjects.js';
import { operationHistory } from '../../../src/contexts/operations/domain/history.js';
import type { Aggregate, DomainEvent } from '../../../src/kernel/aggregate.js';
import type { Clock } from '../../../src/kernel/clock.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import type { Context } from '../../../src/platform/context.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import { EventRegistry } from '../../../src/platform/event-store/event-registry.js';
import type { EventStore } from '../../../src/platform/event-store/port.js';
import type { OperatorDirectory } from '../../../src/platform/operations/operator-directory.js';
import {
  defineOperation,
  type OperationDefinition,
} from '../../../src/platform/operations/operation-definition.js';
import type { OperationRequest, Requester } from '../../../src/platform/operations/operations.js';
import { ClockCheck } from '../../../src/platform/postgres/clock-check.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import type { WorkItems } from '../../../src/platform/work/work-items.js';
import { InMemoryEventStore } from '../in-memory-event-store.js';

type LampEvent = DomainEvent<'lamp.switched.v1', { readonly on: boolean; readonly by: string | null }>;

/** What operations of these specs change. */
export const lamp: Aggregate<{ readonly on: boolean; readonly count: number }, LampEvent> = {
  category: 'lamp',
  initial: { on: false, count: 0 },
  evolve: ({ count }, { data }) => ({ on: data.on, count: count + 1 }),
};

/** Settings of a process: what is planted into it. */
export interface BenchOptions {
  readonly store?: EventStore;
  readonly approvals?: 'on' | 'off';
  readonly now?: () => Date;
  /** The clock of the database; the same as that of the process unless it is given. */
  readonly databaseNow?: () => Date;
  readonly definitions?: readonly OperationDefinition[];
  /** Names of the events that these definitions write. */
  readonly events?: readonly string[];
  /** What these definitions get, by its token. */
  readonly provide?: (loop: CommandLoop, clock: Clock) => ReadonlyMap<unknown, unknown>;
  /** What persons may do at a decision; all where absent. */
  readonly operators?: (loop: CommandLoop) => Pick<OperatorDirectory, 'scopesOf'>;
  /** Called before and after a lamp is switched by an operation. */
  readonly around?: (place: 'before' | 'after', id: string) => Promise<void> | void;
}

/** The operations of one process on a store that others may share. */
export function operationsOn({
  store = new InMemoryEventStore(),
  approvals = 'on',
  now = () => new Date(),
  databaseNow = now,
  definitions = [],
  events = [],
  provide = () => new Map(),
  operators = () => ({ scopesOf: async () => ({ has: () => true }) as unknown as ReadonlySet<string> }),
  around = () => undefined,
}: BenchOptions = {}) {
  const registry = new EventRegistry();
  registry.register(
    [...operationHistory.events, 'lamp.switched.v1', ...events].map((type) => ({ type })),
    'operations',
  );
  const codec = new EventCodec(registry, { obtain: async () => null, find: async () => new Map() });
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
  const switching = (name: string, secondPerson: 'before' | 'after' | null): OperationDefinition =>
    defineOperation<{ readonly on: boolean }>({
      name,
      scope: 'merchants:write',
      subject: 'lamp',
      streams: (id) => [`lamp-${id}`],
      secondPerson,
      execute: async ({ id, subjectId, parameters }) => {
        await around('before', id);
        await switchLamp(subjectId, parameters.on, id);
        await around('after', id);
        return { on: parameters.on };
      },
    });
  const context: Context = {
    name: 'lamps',
    operations: [
      switching('lamps.switch', null),
      switching('lamps.switch_carefully', 'before'),
      switching('lamps.switch_fast', 'after'),
      ...definitions,
    ],
  };
  const clock: Clock = { now };
  const provided = provide(loop, clock);
  const get = (token: unknown): unknown => provided.get(token);
  const all = new Definitions([context], { get } as unknown as ModuleRef);
  const database = { query: async () => [{ now: databaseNow() }] } as unknown as Database;
  const clockCheck = new ClockCheck({ maxClockSkewSeconds: 30 }, clock, database);
  const subjects = new Subjects(store);
  const log = new OperationStreams(loop);
  const execution = new Execution(log, all, subjects, clock);
  const operations = new RequestedOperations(
    all,
    subjects,
    log,
    execution,
    clock,
    { operationsApprovals: approvals },
    clockCheck,
  );
  const people = operators(loop) as OperatorDirectory;
  const decisions = new OperationDecisions(log, all, execution, people, clock, clockCheck);
  const worker = new SettlingWorker({} as WorkItems, log, execution, decisions, clock, clockCheck);
  return { store, loop, log, operations, decisions, worker, execution, clock, switchLamp };
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

/** A request to switch the lamp `lamp` on, which exists since its revision 0. */
export function switchRequest(given: Partial<OperationRequest> = {}): OperationRequest {
  return {
    name: 'lamps.switch',
    subject: { id: 'lamp', revision: 0 },
    parameters: { on: true },
    reason: 'it is dark',
    ticket: null,
    requester: requesterOf('ada'),
    merchantId: null,
    ...given,
  };
}
