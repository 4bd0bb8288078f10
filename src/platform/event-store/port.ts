import type { ChangeNotifier } from '../jobs/group-call.js';

/** Stored JSON. It has no bigint: amounts are decimal strings. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The cause of an event. It contains no personal data. */
export interface EventMetadata {
  /** The route of a request (`POST /v1/orders`), a process (`payouts.verification`) or `operator`. */
  readonly actor?: string;
  readonly request_id?: string;
  readonly merchant_id?: string;
  /** The API key of the request; absent if it is the merchant's id. */
  readonly key_id?: string;
  /** The portal session, which identifies the person. */
  readonly portal_session_id?: string;
  /** The id of the causing event, or of the delivery whose response disabled an endpoint. */
  readonly causation_id?: string;
  readonly operation_id?: string;
  readonly traceparent?: string;
  /** The MAC of the event (authentic-event-store.ts), always the last member of the metadata. */
  readonly mac?: string;
}

/** A new event. A repeated append of the same `id`, a UUID, to the same stream has no effect. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
  /** The JSON texts of `data` and `metadata`, if the caller has them already. */
  readonly dataText?: string;
  readonly metadataText?: string;
}

export interface RecordedEvent extends NewEvent {
  /** True for an event whose MAC is missing or wrong. No consumer may act on it. */
  readonly isForged?: true;
  readonly stream: string;
  /** The place of the event in its stream, counted from 0. */
  readonly revision: number;
  /** The place of the event among all events, opaque except for {@link comparePositions}. */
  readonly position: string;
  readonly recordedAt: Date;
}

export interface StreamAppend {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  /** The required state of the stream: no events, or exactly this last revision. */
  readonly expected: 'no_stream' | number;
}

/**
 * The response of an idempotent request, stored with its events. `scope` is the merchant's id, `key` the UUID
 * of the Idempotency-Key; `fingerprint` identifies method, path and body.
 */
export interface StoredResponse {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  /** The exact response body as UTF-8 text; an empty text if there is no body. */
  readonly body: string;
}

/** One unit of work. An atomic store writes all of it or nothing; others write the appends in order. */
export interface Commit {
  readonly appends: readonly StreamAppend[];
  /** The response, which only a store with `carriesResponses` accepts. */
  readonly response?: StoredResponse;
}

export type CommitResult =
  | {
      readonly outcome: 'committed';
      /** The position of the last event, even if an earlier commit stored it; null without events. */
      readonly position: string | null;
      /** The revision of each stream of `appends` after the commit; -1 for a missing stream. */
      readonly revisions: readonly number[];
    }
  /** `stream` is at the revision `actual` (null if missing). An atomic store wrote nothing. */
  | { readonly outcome: 'conflict'; readonly stream: string; readonly actual: number | null }
  /** The key of `response` has this response already; nothing was written. */
  | { readonly outcome: 'responded'; readonly response: StoredResponse };

export interface ReadOptions {
  readonly fromRevision?: number;
  readonly lastOnly?: boolean;
}

/** The port of the event store. Its methods throw EventStoreUnavailable during an outage. */
export interface EventStore {
  readonly atomic: boolean;
  readonly carriesResponses: boolean;
  /** Notifies of commits by this process, and of commits by other processes once `head` finds them. */
  readonly committed: ChangeNotifier;

  commit(commit: Commit): Promise<CommitResult>;
  readStream(stream: string, options?: ReadOptions): Promise<readonly RecordedEvent[]>;
  /** Reads up to `limit` events, or fewer if they are large. Only an empty page means the end of the log. */
  readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]>;
  head(): Promise<string | null>;
  /** Reads the UUID of the log, which remains with the events. The first call creates it. */
  identity(): Promise<string>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The source or target of a copy from one event store to another (ADR 189). */
export interface CopyEnd {
  readonly store: EventStore;
  /** Appends events, with their positions and times, to the log, which ends at `after`. */
  add(after: string | null, events: readonly RecordedEvent[]): Promise<void>;
  identify(logId: string): Promise<void>;
}

export const EVENT_STORE = Symbol('EVENT_STORE');

export class EventStoreUnavailable extends Error {
  override readonly name = 'EventStoreUnavailable';
}

/** Compares two positions for sorting. Null is before all others. */
export function comparePositions(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}
