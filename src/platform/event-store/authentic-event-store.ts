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
} from './port.js';

export type Macs = Pick<Sealer, 'mac' | 'isAuthentic'>;

export const FORGED_EVENT = 'forged event: its MAC is missing or wrong, the service did not write it there';

const EVENT = 'event';
const MAC_AT_END = /([{,])"mac":"([\w.-]+)"\}$/;

/** Adds a MAC over the whole event, its stream and its revision, as the last member of the metadata. */
export function withMac(event: NewEvent, stream: string, revision: number, macs: Macs): NewEvent {
  const { id, type, data, metadata } = event;
  const dataText = JSON.stringify(data);
  const othersText = JSON.stringify({ ...metadata, mac: undefined });
  const mac = macs.mac(EVENT, macText({ stream, revision, id, type }, dataText, othersText));
  const start = othersText === '{}' ? '{' : `${othersText.slice(0, -1)},`;
  const metadataText = `${start}"mac":"${mac}"}`;
  return { id, type, data, dataText, metadata: { ...metadata, mac }, metadataText };
}

type Macced = Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type' | 'dataText' | 'metadataText'> &
  Readonly<Record<'data' | 'metadata', object>>;

/** Checks by the MAC that the service wrote this event at this revision of its stream. */
export function hasValidMac(event: Macced, macs: Pick<Macs, 'isAuthentic'>): boolean {
  const metadataText = event.metadataText ?? JSON.stringify(event.metadata);
  const match = MAC_AT_END.exec(metadataText);
  if (match === null || (match[1] === '{' && match.index > 0)) return false;
  const others = match[1] === '{' ? '{}' : `${metadataText.slice(0, match.index)}}`;
  const dataText = event.dataText ?? JSON.stringify(event.data);
  return macs.isAuthentic(EVENT, macText(event, dataText, others), match[2]);
}

/** Returns the events whose MAC is invalid even after `refreshKeys` has read the newest keys. */
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

/** The text that the MAC covers. The parts contain no line feed, so that the text is unambiguous. */
function macText(
  { stream, revision, id, type }: Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type'>,
  dataText: string,
  metadataText: string,
): string {
  return `${JSON.stringify([stream, revision, id, type])}\n${dataText}\n${metadataText}`;
}

/**
 * An event store that adds MACs, which a writer without the master key cannot forge (ADR 152). `readStream`
 * throws for a forged or missing event. `readAll` marks forged events, at which subscriptions halt.
 */
export class AuthenticEventStore implements EventStore {
  readonly atomic: boolean;
  readonly carriesResponses: boolean;
  readonly committed: EventStore['committed'];

  private readonly logger = new Logger(AuthenticEventStore.name);

  constructor(
    private readonly inner: EventStore,
    private readonly macs: Macs,
    /** Reads the key ring again, because a paused process lacks keys that were added meanwhile. */
    private readonly refreshKeys: () => Promise<void> = async () => undefined,
  ) {
    this.atomic = inner.atomic;
    this.carriesResponses = inner.carriesResponses;
    this.committed = inner.committed;
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
    const events = await this.inner.readAll(after, limit);
    for (const event of await forgedEvents(events, this.macs, this.refreshKeys))
      Object.assign(event, { isForged: true });
    return events;
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
    const first = expected === 'no_stream' ? 0 : expected + 1;
    return {
      stream,
      expected,
      events: events.map((event, place) => withMac(event, stream, first + place, this.macs)),
    };
  }
}

/** Returns the first missing revision, or null. Only the ledger detects that the last events are missing. */
function findMissing(
  events: readonly RecordedEvent[],
  { fromRevision = 0, lastOnly = false }: ReadOptions = {},
): number | null {
  const first = lastOnly ? (events[0]?.revision ?? 0) : fromRevision;
  const place = events.findIndex(({ revision }, index) => revision !== first + index);
  return place < 0 ? null : first + place;
}
