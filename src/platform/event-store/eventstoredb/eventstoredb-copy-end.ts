import { setTimeout as sleep } from 'node:timers/promises';
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

/** Characters of the data of one append: the server takes 1 MiB unless its settings say otherwise. */
const APPEND_SIZE = 200_000;
/** How long nothing may be appended before the end of a copy: nothing here keeps a running service from it. */
const STILL_MS = 3000;

/** A log in EventStoreDB as one end of a copy. */
export class EventStoreDbCopyEnd implements CopyEnd {
  readonly store: EventStoreDbEventStore;
  private readonly connection: Connection;

  constructor(
    url: string,
    private readonly runningProcesses: () => Promise<number>,
  ) {
    this.connection = new Connection(url);
    this.store = new EventStoreDbEventStore(this.connection);
  }

  async fence(): Promise<void> {
    const running = await this.runningProcesses();
    if (running > 0)
      throw new ConfigError(
        `${running} processes of the service are running, or were until a minute ago. Stop them, and repeat the command.`,
      );
    const head = await this.store.head();
    await sleep(STILL_MS);
    if ((await this.store.head()) === head) return;
    throw new ConfigError(
      'The service still appends to the event store that is copied from. Stop its processes, and repeat the command.',
    );
  }

  async add(after: string | null, events: readonly RecordedEvent[]): Promise<void> {
    // One after the other: the order of the log is that of the server's writes. A process that was killed may have left no mark.
    if (after !== null) await this.mark(after);
    for (const run of runsOf(events)) {
      const { stream, revision } = run[0]!;
      await this.append(stream, revision - 1, run.map(toCopiedEventData));
    }
    const last = events.at(-1);
    if (last !== undefined) await this.mark(last.position);
  }

  async open(logId: string): Promise<void> {
    const mark = jsonEvent({ id: newId(), type: IDENTITY_TYPE, data: { log_id: logId } });
    await this.append(IDENTITY_STREAM, 'any', [mark]);
  }

  async retire(): Promise<void> {
    await this.open(newId());
  }

  async close(): Promise<void> {
    await this.store.close();
  }

  /** Copied events up to `position` are before this mark, and all others will be behind it. */
  private async mark(position: string): Promise<void> {
    const { last, count } = await this.store.refreshedPositions();
    if (last !== undefined && last.position >= BigInt(position)) return;
    const mark = jsonEvent({ id: newId(), type: COPIED_TYPE, data: { position } });
    await this.append(COPIED_STREAM, count - 1, [mark]);
    await this.store.refreshedPositions();
  }

  /** A repeat is known to the server by ids and expectation; of one that it has forgotten, the stream has the events. */
  private async append(stream: string, after: number | 'any', events: EventData[]): Promise<void> {
    const expectedRevision = after === 'any' ? ANY : toExpectedRevision(after < 0 ? 'no_stream' : after);
    try {
      await retryWhileUnavailable(
        (deadline) => {
          const options = { expectedRevision, requiresLeader: true, deadline };
          return inTime(this.connection.client.appendToStream(stream, events, options), deadline);
        },
        { onTimeout: (since) => void this.connection.reconnect(since) },
      );
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError) || after === 'any') throw error;
      const stored = await this.store.readStream(stream, { fromRevision: after + 1 });
      if (events.every(({ id }, place) => stored[place]?.id === id)) return;
      throw new ConfigError(
        `The event store that is copied to has other events in the stream ${stream}. A copy needs an empty one.`,
        { cause: error },
      );
    }
  }
}

/** Neighbours of one stream, in the order of the log, as large as one append may be. */
function runsOf(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  const runs: RecordedEvent[][] = [];
  let size = 0;
  for (const event of events) {
    const run = runs.at(-1);
    const added = (event.dataText ?? JSON.stringify(event.data)).length;
    if (run?.[0]?.stream === event.stream && size + added <= APPEND_SIZE) {
      run.push(event);
      size += added;
    } else {
      runs.push([event]);
      size = added;
    }
  }
  return runs;
}
