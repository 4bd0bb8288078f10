import type { EventMetadata, StoredResponse, StreamAppend } from './port.js';

/** A loaded aggregate. `revision` is null when its stream does not exist yet. */
export interface Loaded<State> {
  readonly state: State;
  readonly revision: number | null;
  /** Id of its last event, for what follows from it elsewhere; null without one. */
  readonly lastId: string | null;
}

/**
 * A value that at most one aggregate may hold, kept as a stream `<category>-<key>`: a phone number of a merchant,
 * one on-chain transfer. Personal values go in as keyed hashes.
 */
export interface Claim {
  readonly category: string;
  readonly key: string;
  /** Field to blame when another aggregate holds it, and the message. */
  readonly field: string;
  readonly message: string;
  /**
   * Stored name of an event that frees the claim: a holder whose stream has it gives way, and must never request the
   * claim again. Absent: it is held for ever.
   */
  readonly freedBy?: string;
}

export interface ExecuteOptions<State> {
  /** The cause of the events: a request passes its `@Cause()`, a process its `actor`. */
  readonly metadata: EventMetadata;
  /** The events follow from the last one of the stream: it is their `causation_id`. */
  readonly follows?: true;
  /** Claims that must be won together with the events. A claim already held by this aggregate is fine. */
  readonly claims?: readonly Claim[];
  /**
   * The response, from the state after the events: a repeat finds what the first request did, and responds alike. Where the
   * store carries responses, that of the ticket travels with the events, also when there were none to write.
   */
  readonly response?: {
    readonly ticket?: { response(status: number, body: string): StoredResponse | undefined };
    readonly status: number;
    readonly body: (state: State) => string;
  };
  /**
   * Reads what else the decision rests on, before each attempt (from 0), and returns the revisions of those streams: appends
   * without events that travel in the same commit. A store that is not atomic checks them just before.
   */
  readonly preconditions?: (attempt: number) => Promise<readonly StreamAppend[]>;
  /**
   * Only for a store that is not atomic: an append to a new stream, before the preconditions are checked. The
   * precondition may fail to hold between its check and the events; a writer that changes it finds here what may still follow.
   */
  readonly announcement?: () => Pick<StreamAppend, 'stream' | 'events'>;
  /**
   * The aggregate is almost surely new (a fresh or derived id): the first attempt decides on its initial state without
   * loading, expecting no stream. When that fails, the loop loads it and decides again. Saves a read per request. Not for events with personal
   * fields that need claims: these are read first.
   */
  readonly expectNew?: boolean;
}

export interface Executed<State, Event> {
  readonly state: State;
  /** The body of the response; empty without one. */
  readonly body: string;
  /** Events written by this call; empty when there was nothing to do. */
  readonly events: readonly Event[];
  /** Position to wait for in the views; null when nothing was written. */
  readonly position: string | null;
  /** The id of the last event after these; see {@link Loaded.lastId}. */
  readonly lastId: string | null;
}

/** The request's key already has a response: the edge replays `response`. */
export class AlreadyResponded extends Error {
  override readonly name = 'AlreadyResponded';
  constructor(readonly response: StoredResponse) {
    super('already has a response');
  }
}

/** A claim is held by another aggregate that exists. Use cases turn it into the contract's 422. */
export class ClaimHeld extends Error {
  override readonly name = 'ClaimHeld';
  constructor(
    readonly claim: Claim,
    readonly owner: string,
  ) {
    super(`${claim.category} is held`);
  }
}
