/** JSON as it is stored. No bigint: amounts are decimal strings. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The person and the cause of an event, without personal data. */
export interface EventMetadata {
  /**
   * The writer: the route of a request (`POST /v1/orders`), a process of the service (`payouts.verification`),
   * `operator`.
   */
  readonly actor?: string;
  readonly request_id?: string;
  readonly merchant_id?: string;
  /** The API key of the request, where it is not the merchant's id. */
  readonly key_id?: string;
  /** The session of the portal whose person caused it; the session names the person. */
  readonly portal_session_id?: string;
  /** Id of the event that it follows from; of the delivery whose response disabled an endpoint. */
  readonly causation_id?: string;
  /** Id of the operator's operation that caused the event. */
  readonly operation_id?: string;
  /** W3C traceparent of the request that caused the event. */
  readonly traceparent?: string;
  /** Proves that the service wrote the event (event-mac.ts); always the last member. */
  readonly mac?: string;
}

/** An event on its way into a store. `id` is a uuid; appending the same id to the same stream again changes nothing. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
  /** `data` and `metadata` as JSON, where they are at hand. */
  readonly dataText?: string;
  readonly metadataText?: string;
}

/** An event as a store returns it. */
export interface RecordedEvent extends NewEvent {
  /** True for an event whose MAC is missing or wrong. No consumer may act on it. */
  readonly isForged?: true;
  readonly stream: string;
  /** Place in its stream, from 0. */
  readonly revision: number;
  /** Place among all events, as an opaque string: only {@link comparePositions} may interpret it. */
  readonly position: string;
  readonly recordedAt: Date;
}

/** The writer's expectation of the stream: empty, or exactly this revision. */
export type ExpectedRevision = 'no_stream' | number;

export interface StreamAppend {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
}

/**
 * The response of an idempotent request, riding with the events it caused.
 * `scope` is the merchant's id, `key` the bare uuid of the Idempotency-Key, `fingerprint` identifies method, path and body.
 */
export interface StoredResponse {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  /** Exact bytes of the response as UTF-8 text; empty for none. */
  readonly body: string;
}

/** One unit of work: all of it or nothing on an atomic store, in the given order on another. */
export interface Commit {
  readonly appends: readonly StreamAppend[];
  /** Only for stores with `carriesResponses`. */
  readonly response?: StoredResponse;
}

export type CommitResult =
  | {
      readonly outcome: 'committed';
      /** Position of the last event written, or of the same event when it was there already; null for no events. */
      readonly position: string | null;
      /** Revision of each stream of `appends` after the commit, in their order; -1 for a stream that does not exist. */
      readonly revisions: readonly number[];
    }
  /** Nothing was written: this stream was not at its expected revision (`actual` null: it does not exist). */
  | { readonly outcome: 'conflict'; readonly stream: string; readonly actual: number | null }
  /** Nothing was written: the key of `response` already has this response. */
  | { readonly outcome: 'responded'; readonly response: StoredResponse };

export interface ReadOptions {
  /** First revision to read; default 0. */
  readonly fromRevision?: number;
  /** The newest event alone. */
  readonly lastOnly?: boolean;
}

export interface Subscription extends AsyncIterable<readonly RecordedEvent[]> {
  /** Ends the iteration; safe to call twice. */
  close(): Promise<void>;
}

/**
 * The event store as the application knows it. Every adapter passes the one conformance suite (test/conformance).
 * A store that cannot be reached throws {@link EventStoreUnavailable}.
 */
export interface EventStore {
  /** Commits that touch several streams are all-or-nothing. */
  readonly atomic: boolean;
  /** A commit may carry a response to be stored in the same transaction. */
  readonly carriesResponses: boolean;

  commit(commit: Commit): Promise<CommitResult>;
  /** Events of one stream in order; empty when it does not exist. */
  readStream(stream: string, options?: ReadOptions): Promise<readonly RecordedEvent[]>;
  /**
   * Up to `limit` events of all streams after `after` (null: from the start), in position order. Fewer of them, where
   * they are large, does not mean the end: only an empty page does.
   */
  readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]>;
  /** Everything after `after`, then everything to come, in batches, missing nothing. */
  subscribe(after: string | null): Subscription;
  /** Position of the newest event; null when empty. */
  head(): Promise<string | null>;
  /** Returns the identity of the log: a uuid that stays with the events, created by the first call. */
  identity(): Promise<string>;
  /** Resolves when the store can take appends, throws {@link EventStoreUnavailable} otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** One end of a copy of a log from one event store to another (ADR 189). */
export interface CopyEnd {
  readonly store: EventStore;
  /** Adds events, or none, to the end of the log, which is at `after`, with the positions and times that they have. */
  add(after: string | null, events: readonly RecordedEvent[]): Promise<void>;
  /** Gives the log another identity. */
  identify(logId: string): Promise<void>;
}

/** Nest injection token of the {@link EventStore}. */
export const EVENT_STORE = Symbol('EVENT_STORE');

export class EventStoreUnavailable extends Error {
  override readonly name = 'EventStoreUnavailable';
}

/** Negative, zero or positive like every comparator. A null position is before all others. */
export function comparePositions(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}
