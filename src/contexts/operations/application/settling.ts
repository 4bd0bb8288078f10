import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, HOUR_MS, timestamp } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Background } from '../../../platform/jobs/background-work.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import { DueWork, type WorkOutcome } from '../../../platform/jobs/due-work.js';
import { dropWork, scheduleWork, WorkItems, type NewItem } from '../../../platform/jobs/work-items.js';
import {
  type OperationEvent,
  existingOperation,
  isUnfinished,
  operationHistory,
} from '../domain/operation.js';
import type { Definitions } from './definitions.js';
import { OperationsService } from './request-operation.js';
import { Execution, OperationStreams } from './execution.js';

/** The kind of work that ends what a process left: executions, lapses, and what is pending for them. */
const SETTLING = 'operations.settling';

/** The process that records an operation executes it within this time, or is dead. */
const RESUME_AFTER_MS = 10_000;
/** An operation that fails unexpectedly for this long has failed. */
const GIVE_UP_AFTER_MS = HOUR_MS;

/** Ends operations whose process was killed, and those that were not approved in time. */
@Injectable()
export class SettlingWorker {
  @Background()
  readonly work: DueWork;

  constructor(
    items: WorkItems,
    private readonly log: OperationStreams,
    private readonly execution: Execution,
    private readonly operations: OperationsService,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly clockCheck: ClockCheck,
  ) {
    this.work = new DueWork(items, {
      kind: SETTLING,
      everyMs: 2000,
      batch: 4,
      leaseMs: 60_000,
      keepsLease: true,
      retry: { firstMs: 1000, maxMs: 60_000 },
      perform: ({ key }) => this.settle(key),
    });
  }

  async settle(id: string): Promise<WorkOutcome> {
    const state = existingOperation((await this.log.load(id)).state);
    const { facts, phase, decision } = state;
    if (phase === 'pending') {
      const { phase: now } = await this.operations.lapse(id);
      return now === 'pending' ? { inMs: this.until(facts.expires_at!) } : 'done';
    }
    if (!isUnfinished(state)) {
      if (phase !== 'executed') await this.execution.follow(state);
      return 'done';
    }
    try {
      await this.execution.run(id);
    } catch (error) {
      const { phase: after } = existingOperation((await this.log.load(id)).state);
      if (after === 'failed' || after === 'executed') return 'done';
      if (-this.until(decision?.at ?? facts.requested_at) < GIVE_UP_AFTER_MS) throw error;
      await this.clockCheck.require();
      const code = error instanceof DomainError ? error.code : 'unexpected';
      await this.execution.failed(facts, code, 'It could not be executed within an hour');
    }
    return 'done';
  }

  private until(time: string): number {
    return Date.parse(time) - Date.parse(timestamp(this.clock));
  }
}

const SETTLING_SAGA = subscriptionName('operations.settling');

/** Schedules what a killed process may leave of each operation. */
export function settlingSaga(
  definitions: Pick<Definitions, 'takesMs'>,
  wake: () => void,
): SubscriptionDefinition {
  return subscriptionOf<OperationEvent>({
    name: SETTLING_SAGA,
    events: operationHistory.events,
    async apply(events, tx) {
      // The last event of an operation in a batch is the one that counts.
      const next = new Map<string, NewItem | null>();
      for (const event of events) next.set(event.data.operation_id, toItem(event, definitions));
      const due = [...next.values()].filter((item) => item !== null);
      const ended = [...next].flatMap(([id, item]) => (item === null ? [id] : []));
      await scheduleWork(tx, SETTLING, due);
      await dropWork(tx, SETTLING, ended);
    },
    afterCommit: wake,
  });
}

function toItem({ type, data }: OperationEvent, definitions: Pick<Definitions, 'takesMs'>): NewItem | null {
  const key = data.operation_id;
  switch (type) {
    case 'operation.requested.v1': {
      const isPending = data.approval === 'required' && data.second_person === 'before';
      return {
        key,
        dueAt: isPending ? data.expires_at! : afterwards(data.requested_at, definitions.takesMs(data.name)),
      };
    }
    case 'operation.executed.v1':
    case 'operation.confirmed.v1':
      return null;
    default:
      return { key, dueAt: afterwards(data.at) };
  }
}

function afterwards(time: string, takesMs = RESUME_AFTER_MS): string {
  return new Date(Date.parse(time) + takesMs).toISOString();
}
