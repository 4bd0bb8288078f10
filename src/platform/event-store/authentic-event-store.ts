import { Logger } from '@nestjs/common';
import { DomainError } from '../../kernel/domain-error.js';
import { FORGED_EVENT, forgedEvents, withMac, type Macs } from './event-mac.js';
import type {
  Commit,
  CommitResult,
  EventStore,
  ReadOptions,
  RecordedEvent,
  StreamAppend,
  Subscription,
} from './port.js';

/**
 * Any {@link EventStore} whose events carry MACs by a key of the ring (ADR 152): a writer to the
 * store without the master key cannot add or change one unnoticed. Reading a stream with a forged event throws;
 * pages of all streams mark it, because their readers say at which event they halt.
 */
export class AuthenticEventStore implements EventStore {
  readonly atomic: boolean;
  readonly carriesResponses: boolean;

  private readonly logger = new Logger(AuthenticEventStore.name);

  constructor(
    private readonly inner: EventStore,
    private readonly macs: Macs,
    /** Reads the key ring again: a process that was stopped while a key was added does not know it. */
    private readonly refreshKeys: () => Promise<void> = async () => undefined,
  ) {
    this.atomic = inner.atomic;
    this.carriesResponses = inner.carriesResponses;
  }

  async commit(commit: Commit): Promise<CommitResult> {
    return this.inner.commit({ ...commit, appends: commit.appends.map((append) => this.stamped(append)) });
  }

  async readStream(stream: string, options?: ReadOptions): Promise<readonly RecordedEvent[]> {
    const events = await this.inner.readStream(stream, options);
    const [forged] = await forgedEvents(events, this.macs, this.refreshKeys);
    const missing = findMissing(events, options);
    if (forged === undefined && missing === null) return events;
    if (forged !== undefined) {
      const { revision, position, id, type } = forged;
      this.logger.error({ msg: FORGED_EVENT, stream, revision, position, event_id: id, type });
    } else this.logger.error({ msg: 'an event was deleted outside the service', stream, revision: missing });
    throw new DomainError('unavailable', 'The history of this record was changed outside the service');
  }

  async readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]> {
    return this.marked(await this.inner.readAll(after, limit));
  }

  subscribe(after: string | null): Subscription {
    const source = this.inner.subscribe(after);
    const marked = (events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> =>
      this.marked(events);
    return {
      close: () => source.close(),
      async *[Symbol.asyncIterator]() {
        for await (const events of source) yield await marked(events);
      },
    };
  }

  head(): Promise<string | null> {
    return this.inner.head();
  }

  identity(): Promise<string> {
    return this.inner.identity();
  }

  ping(): Promise<void> {
    return this.inner.ping();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private stamped({ stream, events, expected }: StreamAppend): StreamAppend {
    // The MAC covers the revision.
    const first = expected === 'no_stream' ? 0 : expected + 1;
    return {
      stream,
      expected,
      events: events.map((event, place) => withMac(event, stream, first + place, this.macs)),
    };
  }

  private async marked(events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> {
    for (const event of await forgedEvents(events, this.macs, this.refreshKeys))
      Object.assign(event, { isForged: true });
    return events;
  }
}

/** The first revision that is missing between those of a stream; null for none. Of the end only the ledger says what is missing. */
function findMissing(
  events: readonly RecordedEvent[],
  { fromRevision = 0, lastOnly = false }: ReadOptions = {},
): number | null {
  const first = lastOnly ? (events[0]?.revision ?? 0) : fromRevision;
  const place = events.findIndex(({ revision }, index) => revision !== first + index);
  return place < 0 ? null : first + place;
}
