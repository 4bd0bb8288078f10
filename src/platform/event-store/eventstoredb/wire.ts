import {
  jsonEvent,
  type AllStreamResolvedEvent,
  type EventData,
  type Position,
  type ResolvedEvent,
} from '@eventstore/db-client';
import type { EventMetadata, JsonObject, NewEvent, RecordedEvent } from '../port.js';

/** The metadata names by which the server's own projections trace the cause of an event. */
const CORRELATION = '$correlationId';
const CAUSATION = '$causationId';
/** The metadata name for the position and the time of a copied event in its former store. */
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

/** Returns an event to append to the copy of a log. The metadata retains the original position and time. */
export function toCopy({ id, type, data, metadata, position, recordedAt }: RecordedEvent): NewEvent {
  const origin: Origin = { position, recorded_at: recordedAt.toISOString() };
  return { id, type, data, metadata: { ...metadata, [ORIGIN]: origin } as EventMetadata };
}

/** Converts a position. Commit and prepare are equal, because the service writes no transactions. */
export function toReadPosition(position: string): Position {
  const commit = BigInt(position);
  return { commit, prepare: commit };
}

/** The stream with the identity of the log. Reads of events omit this stream. */
export const IDENTITY_STREAM = 'log-identity';
export const IDENTITY_TYPE = 'log.identified.v1';

/** The stream with the marks of a copy (positions.ts). */
export const COPIED_STREAM = 'log-copied';
export const COPIED_TYPE = 'log.copied.v1';

/** Converts an event; null for links, server events and events without JSON. See Positions for `shift`. */
export function toRecordedEvent(
  { event }: ResolvedEvent | AllStreamResolvedEvent,
  shift: bigint,
): RecordedEvent | null {
  if (!event?.isJson || event.type.startsWith('$') || event.streamId.startsWith('$')) return null;
  if (event.streamId === IDENTITY_STREAM || event.streamId === COPIED_STREAM) return null;
  if (event.position === undefined) {
    throw new Error('the event store is older than 22.6: it returns no positions for the events of a stream');
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

function ownMetadata(stored: unknown): EventMetadata {
  const entries = Object.entries((stored ?? {}) as EventMetadata);
  return Object.fromEntries(entries.filter(([name]) => !NOT_OURS.has(name)));
}
