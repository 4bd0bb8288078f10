import { newId } from '../../../kernel/ids.js';
import { ConfigError } from '../../config/settings.js';
import type { CopyEnd, RecordedEvent, StreamAppend } from '../port.js';
import { type EventStoreDbEventStore, openEventStoreDb } from './eventstoredb-event-store.js';
import { COPIED_STREAM, COPIED_TYPE, toCopy } from './wire.js';

export class EventStoreDbCopyEnd implements CopyEnd {
  readonly store: EventStoreDbEventStore;

  constructor(url: string) {
    this.store = openEventStoreDb(url);
  }

  async add(after: string | null, events: readonly RecordedEvent[]): Promise<void> {
    if (after !== null) await this.mark(after);
    // The writes are sequential, because their order is that of the log.
    for (const event of events) await this.append(event.stream, event.revision - 1, toCopy(event));
    const last = events.at(-1);
    if (last !== undefined) await this.mark(last.position);
  }

  identify(logId: string): Promise<void> {
    return this.store.identify(logId);
  }

  private async mark(position: string): Promise<void> {
    const { last, count } = await this.store.refreshedPositions();
    if (last !== undefined && last.position >= BigInt(position)) return;
    const mark = { id: newId(), type: COPIED_TYPE, data: { position }, metadata: {} };
    await this.append(COPIED_STREAM, count - 1, mark);
    await this.store.refreshedPositions();
  }

  private async append(stream: string, after: number, event: StreamAppend['events'][number]): Promise<void> {
    const expected = after < 0 ? 'no_stream' : after;
    const { outcome } = await this.store.commit({ appends: [{ stream, events: [event], expected }] });
    if (outcome !== 'committed')
      throw new ConfigError(
        `The target event store has other events in the stream ${stream}: expected an empty event store.`,
      );
  }
}
