import { Inject, Injectable } from '@nestjs/common';
import {
  comparePositions,
  EVENT_STORE,
  type EventStore,
  type RecordedEvent,
} from '../../../platform/event-store/port.js';
import type { Change } from '../domain/operation-events.js';

/** The streams of a subject as they are. */
class Subject {
  constructor(private readonly streams: ReadonlyMap<string, readonly RecordedEvent[]>) {}

  /** By stream: null for one that does not exist. */
  get revisions(): Map<string, number | null> {
    return new Map([...this.streams].map(([stream, events]) => [stream, events.at(-1)?.revision ?? null]));
  }

  /** The revision but for what the operation wrote; null where there is nothing else. */
  revisionWithout(operationId: string): number | null {
    const own = this.changesOf(operationId).length;
    const all = [...this.revisions.values()].reduce<number>((sum, revision) => sum + (revision ?? -1) + 1, 0);
    return all === own ? null : all - own - 1;
  }

  /** What the operation wrote after this position, or at all. */
  changesOf(operationId: string, after: string | null = null): Change[] {
    return [...this.streams.values()]
      .flat()
      .filter(
        ({ metadata, position }) =>
          metadata.operation_id === operationId && comparePositions(position, after) > 0,
      )
      .map(({ stream, id, type }) => ({ stream, event_id: id, type }));
  }
}

/** Reads the streams of subjects. */
@Injectable()
export class Subjects {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async read(streams: readonly string[]): Promise<Subject> {
    const events = await Promise.all(
      streams.map(async (stream) => [stream, await this.store.readStream(stream)] as const),
    );
    return new Subject(new Map(events));
  }

  /** The number of events in the streams, less one; null for none. */
  async revisionOf(streams: readonly string[]): Promise<number | null> {
    const lasts = await Promise.all(
      streams.map((stream) => this.store.readStream(stream, { lastOnly: true })),
    );
    const events = lasts.reduce((sum, [last]) => sum + (last === undefined ? 0 : last.revision + 1), 0);
    return events === 0 ? null : events - 1;
  }

  /** Where in the log the operation was approved; null where it needed no approval. */
  async approvedAt(operationStream: string): Promise<string | null> {
    const events = await this.store.readStream(operationStream);
    return events.find(({ type }) => type === 'operation.approved.v1')?.position ?? null;
  }
}
