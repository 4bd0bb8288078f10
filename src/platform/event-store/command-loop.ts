import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { fold, toStream, type Aggregate, type DomainEvent } from '../../kernel/aggregate.js';
import { DomainError } from '../../kernel/domain-error.js';
import { newId } from '../../kernel/ids.js';
import { failpoint } from '../failpoints.js';
import { commandConflicts } from '../telemetry/metrics.js';
import { traced } from '../telemetry/tracing.js';
import { waitForRetry } from '../jobs/backoff.js';
import { claimStream, contestedClaim, firstClaim, isFence, type Claimant } from './claims.js';
import { AlreadyResponded, type ExecuteOptions, type Executed, type Loaded } from './command-loop-types.js';
import { EventCodec } from './event-codec.js';
import {
  EVENT_STORE,
  type Commit,
  type CommitResult,
  type EventMetadata,
  type EventStore,
  type JsonObject,
  type StoredResponse,
  type StreamAppend,
} from './port.js';
import { Snapshots } from './snapshots.js';

const ATTEMPTS = 25;
const SNAPSHOT_EVERY = 100;
const RETRY = { firstMs: 2, maxMs: 50 };
const NOTHING: CommitResult = { outcome: 'committed', position: null, revisions: [] };

/** The operator's operation that the current commands execute (ADR 176). */
export interface CurrentOperation {
  readonly id: string;
  /** The revisions that the subject's streams must have at their first write; null for a missing stream. */
  readonly expected: Map<string, number | null>;
  readonly written: { readonly stream: string; readonly eventId: string; readonly type: string }[];
  /** The stream of the operation. The first commit requires `revision`, at which the operation is open. */
  readonly own?: { readonly stream: string; readonly revision: number };
}

const storage = new AsyncLocalStorage<CurrentOperation>();

/** Runs `work`, whose commands record the operation in their events and require the expected revisions. */
export function withinOperation<T>(operation: CurrentOperation, work: () => Promise<T>): Promise<T> {
  return storage.run(operation, work);
}

export function currentOperation(): CurrentOperation | undefined {
  return storage.getStore();
}

/** The error for a subject that changed after the operator read it. Nothing was written. */
export class SubjectChanged extends DomainError {
  constructor() {
    super('invalid_transition', 'The subject was changed in the meantime');
  }
}

interface Found<S> extends Loaded<S> {
  readonly established: boolean;
  /** The error to throw before a decision if this version cannot read an event; null if it can read all. */
  readonly unknown: DomainError | null;
}

/** Executes commands: load, decide, append, and repeat after a conflict. Fails on unknown events (ADR 96). */
@Injectable()
export class CommandLoop {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly codec: EventCodec,
    @Optional() private readonly snapshots?: Snapshots,
  ) {}

  /** Loads the state. Throws DomainError `unavailable` for an event that this version cannot read. */
  async load<S, E extends DomainEvent>(aggregate: Aggregate<S, E>, id: string): Promise<Loaded<S>> {
    const found = await this.find(aggregate, id);
    if (found.unknown !== null) throw found.unknown;
    return { state: found.state, revision: found.revision, lastId: found.lastId };
  }

  /** Loads the state from the events that this version can read. Throws like `load` if it can read none. */
  async loadForDisplay<S, E extends DomainEvent>(aggregate: Aggregate<S, E>, id: string): Promise<S> {
    const found = await this.find(aggregate, id);
    if (found.state === aggregate.initial && found.unknown !== null) throw found.unknown;
    return found.state;
  }

  /**
   * Executes a command. Throws the errors of `decide`, ClaimHeld, AlreadyResponded, SubjectChanged,
   * EventStoreUnavailable, or DomainError `unavailable` after too many conflicts.
   */
  execute<S, E extends DomainEvent>(
    aggregate: Aggregate<S, E>,
    id: string,
    decide: (state: S) => readonly E[],
    options: ExecuteOptions<S>,
  ): Promise<Executed<S, E>> {
    const { category } = aggregate;
    return traced('command', { category }, () => this.run(aggregate, id, decide, options));
  }

  private async run<S, E extends DomainEvent>(
    aggregate: Aggregate<S, E>,
    id: string,
    decide: (state: S) => readonly E[],
    options: ExecuteOptions<S>,
  ): Promise<Executed<S, E>> {
    const stream = toStream(aggregate, id);
    const operation = currentOperation();
    const others = operation === undefined ? [] : otherRevisions(operation, stream);
    const contested = new Set<string>();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (attempt > 1) await waitForRetry(RETRY, attempt - 2);
      const isAssumed = attempt === 0 && options.expectNew === true;
      const preconditions = [...((await options.preconditions?.(attempt)) ?? []), ...others];
      const found = isAssumed ? newlyCreated(aggregate) : await this.find(aggregate, id);
      if (found.unknown !== null) throw found.unknown;
      const expected = operation?.expected.get(stream);
      if (expected !== undefined && expected !== found.revision) throw new SubjectChanged();
      let events: readonly E[];
      try {
        events = decide(found.state);
      } catch (error) {
        if (isAssumed) continue;
        throw error;
      }
      if (isAssumed && events.length === 0) continue;
      const state = fold(aggregate, events, found.state);
      const metadata = toCause(options, found);
      const fresh = events.map(({ type, data }) => ({
        id: newId(),
        type,
        data: data as JsonObject,
        metadata,
      }));
      const append = { stream, events: fresh, expected: found.revision ?? ('no_stream' as const) };
      const body = options.response?.body(state) ?? '';
      const response = this.store.carriesResponses
        ? options.response?.ticket?.response(options.response.status, body)
        : undefined;
      failpoint('command.decided');
      const result = await this.write(append, found, contested, { ...options, preconditions, response });
      if (result.outcome === 'responded') throw new AlreadyResponded(result.response);
      if (result.outcome === 'committed') {
        failpoint('commit.done');
        for (const { id: eventId, type } of fresh) operation?.written.push({ stream, eventId, type });
        if (fresh.length === 0) return { state, body, events, position: null, lastId: found.lastId };
        operation?.expected.delete(stream);
        return { state, body, events, position: result.position, lastId: fresh.at(-1)!.id };
      }
      if (others.some((each) => each.stream === result.stream)) throw new SubjectChanged();
      commandConflicts.inc({ category: result.stream.slice(0, result.stream.indexOf('-')) });
      contested.add(result.stream);
    }
    throw new DomainError('unavailable', 'too many concurrent changes: try again');
  }

  private async find<S, E extends DomainEvent>(aggregate: Aggregate<S, E>, id: string): Promise<Found<S>> {
    const stream = toStream(aggregate, id);
    let snapshot = (await this.snapshots?.find(aggregate, stream)) ?? null;
    // The read includes the last event of the snapshot, which the stream must still have.
    let stored = await this.store.readStream(stream, { fromRevision: snapshot?.revision ?? 0 });
    if (snapshot !== null && stored[0]?.id === snapshot.eventId) stored = stored.slice(1);
    else if (snapshot !== null) {
      snapshot = null;
      stored = await this.store.readStream(stream);
    }
    const own = stored.filter((event) => !isFence(event));
    const events: readonly DomainEvent[] = await this.codec.decode(own);
    const unknown = own.find(({ type }) => !this.codec.knows(type))?.type;
    const last = stored.at(-1);
    const found: Found<S> = {
      state: fold(aggregate, events as readonly E[], snapshot?.state),
      revision: last?.revision ?? snapshot?.revision ?? null,
      established: own.length > 0 || snapshot !== null,
      unknown:
        unknown === undefined
          ? null
          : new DomainError('unavailable', `This version of the service does not know the event ${unknown}`),
      lastId: own.at(-1)?.id ?? snapshot?.eventId ?? null,
    };
    if (last && stored.length >= SNAPSHOT_EVERY && found.established && unknown === undefined) {
      const { state } = found;
      await this.snapshots?.save(aggregate, stream, { state, revision: last.revision, eventId: last.id });
    }
    return found;
  }

  private async write(
    append: StreamAppend,
    { established }: Found<unknown>,
    contested: ReadonlySet<string>,
    {
      claims = [],
      preconditions,
      announcement,
      response,
    }: Pick<ExecuteOptions<never>, 'claims' | 'announcement'> & {
      readonly preconditions: readonly StreamAppend[];
      readonly response: StoredResponse | undefined;
    },
  ): Promise<CommitResult> {
    const { stream, events } = append;
    if (events.length === 0 && response === undefined) return NOTHING;
    // A conflict means that an earlier attempt wrote the announcement.
    if (!this.store.atomic && announcement !== undefined && events.length > 0)
      await this.store.commit({ appends: [{ ...announcement(), expected: 'no_stream' }] });
    // Sealing creates a key for a person, so claims of personal events are checked first. The loser of a race
    // may leave a key. It is retained, because another process may be about to seal with it.
    const isPersonal = this.codec.seals(events);
    const won: StreamAppend[] = [];
    for (const claim of events.length > 0 ? claims : []) {
      const claimant: Claimant = { stream, established, metadata: events[0]!.metadata };
      const each =
        isPersonal || contested.has(claimStream(claim))
          ? await contestedClaim(this.store, claim, claimant)
          : firstClaim(claim, claimant);
      if (this.store.atomic || each.events.length === 0) {
        won.push(each);
        continue;
      }
      // Claims precede the aggregate's events, each in its own commit.
      const result = await this.store.commit({ appends: [each] });
      if (result.outcome !== 'committed') return result;
    }
    const sealed = { ...append, events: await this.codec.encode(stream, events) };
    const commit: Commit = { appends: [...preconditions, ...won, sealed] };
    return traced('event_store.commit', { streams: commit.appends.length }, () =>
      this.store.commit(response === undefined ? commit : { ...commit, response }),
    );
  }
}

function newlyCreated<S>({ initial }: { readonly initial: S }): Found<S> {
  return { state: initial, revision: null, established: false, unknown: null, lastId: null };
}

function toCause<S>({ metadata, follows }: ExecuteOptions<S>, { lastId }: Found<S>): EventMetadata {
  const operation = currentOperation();
  return {
    ...metadata,
    ...(operation && { operation_id: operation.id }),
    ...(follows && lastId !== null && { causation_id: lastId }),
  };
}

/** Returns the required revisions of the subject's other streams and of the operation's stream. */
function otherRevisions({ expected, written, own }: CurrentOperation, stream: string): StreamAppend[] {
  const first = own !== undefined && written.length === 0 ? [[own.stream, own.revision] as const] : [];
  return [...expected, ...first]
    .filter(([other]) => other !== stream)
    .map(([other, revision]) => ({ stream: other, events: [], expected: revision ?? 'no_stream' }));
}
