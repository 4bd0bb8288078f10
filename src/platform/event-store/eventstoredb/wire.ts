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
/** The position and the time of a copied event in its former store. */
const ORIGIN = '$origin';
const NOT_OURS: ReadonlySet<string> = new Set([CORRELATION, CAUSATION, ORIGIN]);

interface Origin {
  readonly position: string;
  readonly recorded_at: string;
}

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

/** The event as another log gets it: readers get its position and time from there. */
export function toCopy({ id, type, data, metadata, position, recordedAt }: RecordedEvent): NewEvent {
  const origin: Origin = { position, recorded_at: recordedAt.toISOString() };
  return { id, type, data, metadata: { ...metadata, [ORIGIN]: origin } as EventMetadata };
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

/** Says where copied events are ({@link Positions}). */
export const COPIED_STREAM = 'log-copied';
export const COPIED_TYPE = 'log.copied.v1';

/**
 * Null for links, for events of the server's own, and for what is no JSON: none of them are ours. `shift` is that of
 * {@link Positions}.
 */
export function toRecordedEvent(
  { event }: ResolvedEvent | AllStreamResolvedEvent,
  shift: bigint,
): RecordedEvent | null {
  if (!event?.isJson || event.type.startsWith('$') || event.streamId.startsWith('$')) return null;
  if (event.streamId === IDENTITY_STREAM || event.streamId === COPIED_STREAM) return null;
  if (event.position === undefined) {
    throw new Error('the event store is older than 22.6: it gives no positions of the events of a stream');
  }
  const { [ORIGIN]: origin } = (event.metadata ?? {}) as { readonly [ORIGIN]?: Origin };
  return {
    id: event.id,
    type: event.type,
    data: event.data as JsonObject,
    metadata: ownMetadata(event.metadata),
    stream: event.streamId,
    revision: Number(event.revision),
    position: origin?.position ?? String(event.position.commit + shift),
    recordedAt: origin === undefined ? event.created : new Date(origin.recorded_at),
  };
}

/** The metadata as it was written: what is there for the server alone is left out. */
function ownMetadata(stored: unknown): EventMetadata {
  const entries = Object.entries((stored ?? {}) as EventMetadata);
  return Object.fromEntries(entries.filter(([name]) => !NOT_OURS.has(name)));
}
