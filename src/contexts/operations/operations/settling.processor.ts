import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, HOUR_MS, timestamp } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Background } from '../../../platform/jobs/background-work.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import { DueWork, type WorkOutcome } from '../../../platform/jobs/due-work.js';
import { dropWork, scheduleWork, WorkItems, type NewItem } from '../../../platform/jobs/work-items.js';
import {
  type OperationEvent,
  existingOperation,
  isApprovedFirst,
  isUnfinished,
  operationHistory,
} from './operation.js';
import type { Definitions } from './definitions.service.js';
import { OperationsService } from './operations.service.js';
import { Execution } from './execution.service.js';

/** The kind of the settling work, and the name of its saga. */
const SETTLING = subscriptionName('operations.settling');

/** The time after which the process that recorded an operation counts as dead. */
const RESUME_AFTER_MS = 10_000;
/** The time in which an operation is retried after unexpected errors. */
const GIVE_UP_AFTER_MS = HOUR_MS;

/** Ends operations whose process was killed or whose approval did not come in time. */
@Injectable()
export class SettlingProcessor {
  @Background()
  readonly work: DueWork;

  constructor(
    items: WorkItems,
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
    const state = existingOperation((await this.execution.load(id)).state);
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
      const { phase: after } = existingOperation((await this.execution.load(id)).state);
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

/** Schedules the SettlingProcessor for each operation. */
export function settlingSaga(definitions: Pick<Definitions, 'named'>, wake: () => void) {
  return subscriptionOf<OperationEvent>({
    name: SETTLING,
    events: operationHistory.events,
    async apply(events, tx) {
      // The last event of an operation in a batch decides.
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

function toItem({ type, data }: OperationEvent, definitions: Pick<Definitions, 'named'>): NewItem | null {
  const key = data.operation_id;
  switch (type) {
    case 'operation.requested.v1': {
      const later = afterwards(data.requested_at, definitions.named(data.name)?.takesMs);
      return { key, dueAt: isApprovedFirst(data) ? data.expires_at! : later };
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
