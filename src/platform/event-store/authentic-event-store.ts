import { Logger } from '@nestjs/common';
import { DomainError } from '../../kernel/domain-error.js';
import type { Sealer } from '../sealing/sealer.js';
import type {
  Commit,
  CommitResult,
  EventStore,
  NewEvent,
  ReadOptions,
  RecordedEvent,
  StreamAppend,
  Subscription,
} from './port.js';

export type Macs = Pick<Sealer, 'mac' | 'isAuthentic'>;

/** The message of log lines. */
export const FORGED_EVENT = 'forged event: its MAC is missing or wrong, the service did not write it there';

const EVENT = 'event';
const MAC_AT_END = /([{,])"mac":"([\w.-]+)"\}$/;

/** The event with a MAC over its place in its stream, id, type, data and other metadata, as the last member of its metadata. */
export function withMac(event: NewEvent, stream: string, revision: number, macs: Macs): NewEvent {
  const { id, type, data, metadata } = event;
  const dataText = JSON.stringify(data);
  const othersText = JSON.stringify({ ...metadata, mac: undefined });
  const mac = macs.mac(EVENT, macText({ stream, revision, id, type }, dataText, othersText));
  const start = othersText === '{}' ? '{' : `${othersText.slice(0, -1)},`;
  return {
    id,
    type,
    data,
    dataText,
    metadata: { ...metadata, mac },
    metadataText: `${start}"mac":"${mac}"}`,
  };
}

interface Macced extends Pick<
  RecordedEvent,
  'stream' | 'revision' | 'id' | 'type' | 'dataText' | 'metadataText'
> {
  readonly data: object;
  readonly metadata: object;
}

/** Checks that the service wrote this event at this place of its stream. */
export function hasValidMac(event: Macced, macs: Pick<Macs, 'isAuthentic'>): boolean {
  const metadataText = event.metadataText ?? JSON.stringify(event.metadata);
  const match = MAC_AT_END.exec(metadataText);
  if (match === null || (match[1] === '{' && match.index > 0)) return false;
  const others = match[1] === '{' ? '{}' : `${metadataText.slice(0, match.index)}}`;
  const dataText = event.dataText ?? JSON.stringify(event.data);
  return macs.isAuthentic(EVENT, macText(event, dataText, others), match[2]);
}

/** The events that the service did not write. Refreshes the key ring once before it calls an event forged. */
export async function forgedEvents<E extends Macced>(
  events: readonly E[],
  macs: Pick<Macs, 'isAuthentic'>,
  refreshKeys: () => Promise<void>,
): Promise<readonly E[]> {
  const suspects = events.filter((event) => !hasValidMac(event, macs));
  if (suspects.length === 0) return suspects;
  await refreshKeys();
  return suspects.filter((event) => !hasValidMac(event, macs));
}

/** None of the three parts contains a line feed when the service wrote it, so that they divide in one way only. */
function macText(
  { stream, revision, id, type }: Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type'>,
  dataText: string,
  metadataText: string,
): string {
  return `${JSON.stringify([stream, revision, id, type])}\n${dataText}\n${metadataText}`;
}

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
