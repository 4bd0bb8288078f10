import {
  jsonEvent,
  NO_STREAM,
  type AllStreamResolvedEvent,
  type AppendExpectedRevision,
  type EventData,
  type Position,
  type ResolvedEvent,
} from '@eventstore/db-client';
import type { EventMetadata, ExpectedRevision, JsonObject, NewEvent, RecordedEvent } from '../port.js';

/** Names by which the server's own projections and pages follow what caused an event. */
const CORRELATION = '$correlationId';
const CAUSATION = '$causationId';

export function toEventData({ id, type, data, metadata }: NewEvent): EventData {
  const { request_id, causation_id } = metadata;
  return jsonEvent({
    id,
    type,
    data: { ...data },
    metadata: {
      ...metadata,
      ...(request_id !== undefined && { [CORRELATION]: request_id }),
      ...(causation_id !== undefined && { [CAUSATION]: causation_id }),
    },
  });
}

export function toExpectedRevision(expected: ExpectedRevision): AppendExpectedRevision {
  return expected === 'no_stream' ? NO_STREAM : BigInt(expected);
}

/** We never write transactions, so that the commit and the prepare position of an event are the same. */
export function toReadPosition(position: string): Position {
  const commit = BigInt(position);
  return { commit, prepare: commit };
}

/** Says which log this is. Nothing that happened: readers do not see it. */
export const IDENTITY_STREAM = 'log-identity';
export const IDENTITY_TYPE = 'log.identified.v1';

/** Null for links, for events of the server's own, and for what is no JSON: none of them are ours. */
export function toRecordedEvent({ event }: ResolvedEvent | AllStreamResolvedEvent): RecordedEvent | null {
  if (!event?.isJson || event.type.startsWith('$') || event.streamId.startsWith('$')) return null;
  if (event.streamId === IDENTITY_STREAM) return null;
  if (event.position === undefined) {
    throw new Error('the event store is older than 22.6: it gives no positions of the events of a stream');
  }
  return {
    id: event.id,
    type: event.type,
    data: event.data as JsonObject,
    metadata: ownMetadata(event.metadata),
    stream: event.streamId,
    revision: Number(event.revision),
    position: event.position.commit.toString(),
    recordedAt: event.created,
  };
}

/** The metadata as it was written: what is there for the server alone is left out. */
function ownMetadata(stored: unknown): EventMetadata {
  const entries = Object.entries((stored ?? {}) as EventMetadata);
  return Object.fromEntries(entries.filter(([name]) => name !== CORRELATION && name !== CAUSATION));
}
