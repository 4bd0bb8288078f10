import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { toStream } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  SubjectChanged,
  withinOperation,
  type CurrentOperation,
  CommandLoop,
} from '../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { OperationProgress } from '../../../platform/operations/operation.js';
import type { OperationOutcome } from '../../../platform/operations/operations.js';
import {
  recordExecuted,
  recordFailed,
  type Change,
  type OperationEvent,
  type Requested,
  existingOperation,
  isUnfinished,
  operation,
  type ExistingOperation,
  type OperationState,
} from './operation.js';
import { operationJson } from './operations.view.js';
import { Definitions } from './definitions.service.js';
import {
  comparePositions,
  EVENT_STORE,
  type EventStore,
  type RecordedEvent,
} from '../../../platform/event-store/port.js';

/** Returns the events that the operation wrote after the log position `after`; null means all its events. */
function findChanges(events: readonly RecordedEvent[], operationId: string, after: string | null): Change[] {
  return events
    .filter(
      ({ metadata, position }) =>
        metadata.operation_id === operationId && comparePositions(position, after) > 0,
    )
    .map(({ stream, id, type }) => ({ stream, event_id: id, type }));
}

/** The failure code of a subject that has changed since the request. */
const CHANGED = 'changed';

/** The transient errors, after which the settling worker retries. */
const TRANSIENT: readonly DomainError['code'][] = ['unavailable', 'rate_limited'];

/** Executes each operation once, in any process, and records its outcome (ADR 176). */
@Injectable()
export class Execution {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly definitions: Definitions,
    private readonly bus: CommandBus,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  load(id: string) {
    return this.loop.load(operation, id);
  }

  /** Returns the revision of a subject: the number of events in its streams, less one; null for no events. */
  async findRevision(streams: readonly string[]): Promise<number | null> {
    const lasts = await Promise.all(
      streams.map((stream) => this.store.readStream(stream, { lastOnly: true })),
    );
    const events = lasts.reduce((sum, [last]) => sum + (last === undefined ? 0 : last.revision + 1), 0);
    return events === 0 ? null : events - 1;
  }

  /**
   * Executes an open operation, or returns the recorded outcome. Records and rethrows the handler's error.
   * Throws SubjectChanged for a subject at another revision, `invalid_transition` for an ended operation.
   */
  async run(id: string, by: OperationProgress['by'] = 'requester'): Promise<OperationOutcome> {
    const { state, revision } = await this.load(id);
    const found = existingOperation(state);
    const { facts } = found;
    const command = this.definitions.commandOf(facts);
    if (found.phase === 'executed') return this.follow(found, by);
    if (!isUnfinished(found)) throw new DomainError('invalid_transition', `The operation is ${found.phase}`);
    const since = found.phase === 'approved' ? await this.approvedAt(id) : null;
    const { events, revisions } = await this.readSubject(this.definitions.streams(command));
    const written = findChanges(events, id, since);
    if (written.length > 0) return this.follow(await this.executed(facts, written), by);
    const own = { stream: toStream(operation, id), revision: revision! };
    const current: CurrentOperation = { id, expected: revisions, written: [], own };
    failpoint('operation.begun');
    try {
      // Events that the operation wrote before its approval are no changes by others.
      const others = events.length - findChanges(events, id, null).length;
      if (others !== (facts.subject.revision ?? -1) + 1) throw new SubjectChanged();
      const result = (await withinOperation(current, () => this.bus.execute(command))) ?? {};
      failpoint('operation.written');
      const changes = await this.findChanges(facts, current, since);
      return { operation: operationJson(await this.executed(facts, changes)), result };
    } catch (error) {
      return await this.afterError(error, found, current, since, by);
    }
  }

  /** Records an execution if the operation has written events. If not, a final error fails the operation. */
  private async afterError(
    error: unknown,
    { facts, phase }: ExistingOperation,
    current: CurrentOperation,
    since: string | null,
    by: OperationProgress['by'],
  ): Promise<OperationOutcome> {
    const changes = await this.findChanges(facts, current, since);
    if (changes.length > 0) {
      const state = await this.executed(facts, changes);
      if (error instanceof SubjectChanged && current.written.length === 0) return this.follow(state, by);
      throw error;
    }
    if (!(error instanceof DomainError)) throw error;
    if (phase === 'approved' && TRANSIENT.includes(error.code)) throw error;
    const isChanged = error instanceof SubjectChanged;
    const state = await this.failed(facts, isChanged ? CHANGED : error.code, error.message);
    if (state.phase === 'executed') return this.follow(state, by);
    throw error;
  }

  private async findChanges(facts: Requested, { written }: CurrentOperation, since: string | null) {
    const own = written.map(({ stream, eventId, type }) => ({ stream, event_id: eventId, type }));
    const streams = this.definitions.streams(this.definitions.commandOf(facts));
    const { events } = await this.readSubject(streams);
    const others = findChanges(events, facts.operation_id, since).filter(({ event_id }) =>
      own.every((each) => each.event_id !== event_id),
    );
    return [...own, ...others];
  }

  /** Returns the log position of the approval event, or null if the operation has none. */
  private async approvedAt(id: string): Promise<string | null> {
    const events = await this.store.readStream(toStream(operation, id));
    return events.find(({ type }) => type === 'operation.approved.v1')?.position ?? null;
  }

  /** Returns the events of a subject, and its revisions by stream; null for a stream that does not exist. */
  private async readSubject(streams: readonly string[]) {
    const events = await Promise.all(streams.map((stream) => this.store.readStream(stream)));
    const revisions = streams.map((stream, n) => [stream, events[n]!.at(-1)?.revision ?? null] as const);
    return { events: events.flat(), revisions: new Map(revisions) };
  }

  private async executed({ operation_id }: Requested, changes: readonly Change[]) {
    const data = { operation_id, changes, at: timestamp(this.clock) };
    const state = await this.record(operation_id, (current) => recordExecuted(data, current));
    failpoint('operation.recorded');
    return state;
  }

  /** Records a failure unless the operation has ended. */
  failed({ operation_id }: Requested, code: string, message: string): Promise<ExistingOperation> {
    const data = { operation_id, code, message, at: timestamp(this.clock) };
    return this.record(operation_id, (current) => recordFailed(data, current));
  }

  /** Records the decided events. Calls the handler's `follow` if they end the operation unexecuted. */
  async record(id: string, decide: (state: OperationState) => readonly OperationEvent[]) {
    const recorded = await withinOperation({ id, expected: new Map(), written: [] }, () =>
      this.loop.execute(operation, id, decide, { metadata: { actor: 'operations' }, follows: true }),
    );
    const state = existingOperation(recorded.state);
    if (!isUnfinished(state) && state.phase !== 'pending' && state.phase !== 'executed')
      await this.follow(state);
    return state;
  }

  /** Lets the handler prepare or clean up an operation. A pending operation fails on a final error. */
  async follow(
    state: ExistingOperation,
    by: OperationProgress['by'] = 'requester',
  ): Promise<OperationOutcome> {
    const { facts, phase } = state;
    const command = this.definitions.commandOf(facts);
    const { handler } = this.definitions.of(command);
    const status = phase === 'pending' || phase === 'executed' ? phase : 'ended';
    const current = { id: facts.operation_id, expected: new Map<string, null>(), written: [] };
    try {
      const result = await withinOperation(current, async () => handler.follow?.(command, { status, by }));
      return { operation: operationJson(state), result: result ?? {} };
    } catch (error) {
      // SubjectChanged means that a concurrent repeat of the request has written the subject.
      const isRefused = error instanceof DomainError && !(error instanceof SubjectChanged);
      if (status === 'pending' && isRefused && !TRANSIENT.includes(error.code))
        await this.failed(facts, error.code, error.message);
      throw error;
    }
  }
}
