import type { EventMetadata, StoredResponse, StreamAppend } from './port.js';

/** A loaded aggregate. `revision` is null when its stream does not exist yet. */
export interface Loaded<State> {
  readonly state: State;
  readonly revision: number | null;
  /** The id of its last event, or null. */
  readonly lastId: string | null;
}

/** A value that at most one aggregate may hold, as a stream `<category>-<key>`. Personal values are keyed hashes. */
export interface Claim {
  readonly category: string;
  readonly key: string;
  /** The field at fault where another aggregate holds the claim, and the message. */
  readonly field: string;
  readonly message: string;
  /** The type of an event that frees the claim; its holder must never request it again. Permanent without one. */
  readonly freedBy?: string;
}

export interface ExecuteOptions<State> {
  /** The cause of the events: the `@Cause()` of a request, or the `actor` of a process. */
  readonly metadata: EventMetadata;
  /** The last event of the stream is the `causation_id` of the new ones. */
  readonly follows?: true;
  /** The claims that are acquired with the events, unless this aggregate holds them already. */
  readonly claims?: readonly Claim[];
  /** The response, from the state after the events. A store with `carriesResponses` stores the ticket's, if any. */
  readonly response?: {
    readonly ticket?: { response(status: number, body: string): StoredResponse | undefined };
    readonly status: number;
    readonly body: (state: State) => string;
  };
  /**
   * Reads the other streams of the decision before each attempt (from 0). Returns their revisions as appends without
   * events in the same commit. A store that is not atomic checks them just before.
   */
  readonly preconditions?: (attempt: number) => Promise<readonly StreamAppend[]>;
  /**
   * An append to a new stream before the check of the preconditions, for a store that is not atomic. A writer that
   * changes a precondition between the check and the events finds the announcement of events that may follow.
   */
  readonly announcement?: () => Pick<StreamAppend, 'stream' | 'events'>;
  /**
   * The first attempt assumes a new aggregate and decides on its initial state without a read; where that fails, the
   * loop loads the stream and decides again. Not for events with personal fields that need claims.
   */
  readonly expectNew?: boolean;
}

export interface Executed<State, Event> {
  readonly state: State;
  readonly body: string;
  readonly events: readonly Event[];
  /** The position to wait for in the views, or null. */
  readonly position: string | null;
  readonly lastId: string | null;
}

/** The request's key has a response already, which the edge replays. */
export class AlreadyResponded extends Error {
  override readonly name = 'AlreadyResponded';
  constructor(readonly response: StoredResponse) {
    super('already has a response');
  }
}

/** Another aggregate holds a claim. Use cases respond with the contract's 422. */
export class ClaimHeld extends Error {
  override readonly name = 'ClaimHeld';
  constructor(
    readonly claim: Claim,
    readonly owner: string,
  ) {
    super(`${claim.category} is held`);
  }
}
