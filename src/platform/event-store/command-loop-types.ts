import type { EventMetadata, StoredResponse, StreamAppend } from './port.js';

/** A loaded aggregate. `revision` is null when its stream does not exist yet. */
export interface Loaded<State> {
  readonly state: State;
  readonly revision: number | null;
  /** The id of its last event, or null. */
  readonly lastId: string | null;
}

/** A value that at most one aggregate holds, by the stream `<category>-<key>`. A personal value is a keyed hash. */
export interface Claim {
  readonly category: string;
  readonly key: string;
  /** The invalid field, and its message, if another aggregate holds the claim. */
  readonly field: string;
  readonly message: string;
  /** The event type by which a holder frees the claim; it never requests it again. Absent for permanent claims. */
  readonly freedBy?: string;
}

export interface ExecuteOptions<State> {
  /** The cause of the events: the `@Cause()` of a request, or the `actor` of a process. */
  readonly metadata: EventMetadata;
  /** Sets the `causation_id` of the new events to the last event of the stream. */
  readonly follows?: true;
  /** The claims that are acquired with the events, unless this aggregate holds them already. */
  readonly claims?: readonly Claim[];
  /** The response, built from the state after the events. A store with `carriesResponses` stores it, given a ticket. */
  readonly response?: {
    readonly ticket?: { response(status: number, body: string): StoredResponse | undefined };
    readonly status: number;
    readonly body: (state: State) => string;
  };
  /**
   * Reads the other streams that the decision depends on, before each attempt (from 0). Returns their revisions as
   * appends without events, which the same commit checks. A store that is not atomic checks them just before.
   */
  readonly preconditions?: (attempt: number) => Promise<readonly StreamAppend[]>;
  /**
   * Returns an append to a new stream. A store that is not atomic writes it before the check of the preconditions. A
   * writer that changes a precondition between the check and the events then finds the announcement of these events.
   */
  readonly announcement?: () => Pick<StreamAppend, 'stream' | 'events'>;
  /**
   * The first attempt assumes a new aggregate and decides on its initial state without a read. If that fails, the loop
   * loads the stream and decides again. Not for events with personal fields that need claims.
   */
  readonly expectNew?: boolean;
}

export interface Executed<State, Event> {
  readonly state: State;
  readonly body: string;
  readonly events: readonly Event[];
  /** The position for the views to reach, or null without events. */
  readonly position: string | null;
  readonly lastId: string | null;
}

/** The error for a key that already has a response, which is then replayed. */
export class AlreadyResponded extends Error {
  override readonly name = 'AlreadyResponded';
  constructor(readonly response: StoredResponse) {
    super('already has a response');
  }
}

/** The error for a claim that another aggregate holds. Use cases respond with the contract's 422. */
export class ClaimHeld extends Error {
  override readonly name = 'ClaimHeld';
  constructor(
    readonly claim: Claim,
    readonly owner: string,
  ) {
    super(`${claim.category} is held`);
  }
}
