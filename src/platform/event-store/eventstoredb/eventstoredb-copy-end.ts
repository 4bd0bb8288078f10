import { ANY, jsonEvent, WrongExpectedVersionError, type EventData } from '@eventstore/db-client';
import { newId } from '../../../kernel/ids.js';
import { ConfigError } from '../../config/settings.js';
import type { CopyEnd } from '../copy-end.js';
import type { RecordedEvent } from '../port.js';
import { Connection } from './connection.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';
import { inTime, retryWhileUnavailable } from './failures.js';
import {
  COPIED_STREAM,
  COPIED_TYPE,
  IDENTITY_STREAM,
  IDENTITY_TYPE,
  toCopiedEventData,
  toExpectedRevision,
} from './wire.js';

/** A log in EventStoreDB as one end of a copy. */
export class EventStoreDbCopyEnd implements CopyEnd {
  readonly store: EventStoreDbEventStore;
  private readonly connection: Connection;

  constructor(url: string) {
    this.connection = new Connection(url);
    this.store = new EventStoreDbEventStore(this.connection);
  }

  async add(after: string | null, events: readonly RecordedEvent[]): Promise<void> {
    if (after !== null) await this.mark(after);
    // One after the other: the order of the log is that of the server's writes.
    for (const event of events)
      await this.append(event.stream, event.revision - 1, toCopiedEventData(event));
    const last = events.at(-1);
    if (last !== undefined) await this.mark(last.position);
  }

  async identify(logId: string): Promise<void> {
    const mark = jsonEvent({ id: newId(), type: IDENTITY_TYPE, data: { log_id: logId } });
    await this.append(IDENTITY_STREAM, 'any', mark);
  }

  /** Copied events up to `position` are before this mark, and all others will be behind it. */
  private async mark(position: string): Promise<void> {
    const { last, count } = await this.store.refreshedPositions();
    if (last !== undefined && last.position >= BigInt(position)) return;
    const mark = jsonEvent({ id: newId(), type: COPIED_TYPE, data: { position } });
    await this.append(COPIED_STREAM, count - 1, mark);
    await this.store.refreshedPositions();
  }

  /** The server knows a repeat by id and expectation. */
  private async append(stream: string, after: number | 'any', event: EventData): Promise<void> {
    const expectedRevision = after === 'any' ? ANY : toExpectedRevision(after < 0 ? 'no_stream' : after);
    try {
      await retryWhileUnavailable(
        (deadline) => {
          const options = { expectedRevision, requiresLeader: true, deadline };
          return inTime(this.connection.client.appendToStream(stream, [event], options), deadline);
        },
        { onTimeout: (since) => void this.connection.reconnect(since) },
      );
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      throw new ConfigError(
        `The event store that is copied to has other events in the stream ${stream}. A copy needs an empty one.`,
        { cause: error },
      );
    }
  }
}
