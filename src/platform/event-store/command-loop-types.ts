import type { EventMetadata, StoredResponse, StreamAppend } from './port.js';

/** A loaded aggregate. `revision` is null before the first event; `lastId` is the id of the last event. */
export interface Loaded<State> {
  readonly state: State;
  readonly revision: number | null;
  readonly lastId: string | null;
}

/** A value that at most one aggregate holds. Personal values are keyed hashes. */
export interface Claim {
  readonly category: string;
  readonly key: string;
  /** The request field that is invalid if another aggregate holds the claim, with its message. */
  readonly field: string;
  readonly message: string;
  /** The type of the event after which the claim is free and its holder never requests it again. */
  readonly freedBy?: string;
}

export interface ExecuteOptions<State> {
  /** The cause of the events: the `@Cause()` of a request, or the `actor` of a process. */
  readonly metadata: EventMetadata;
  /** Sets the `causation_id` of the new events to the last event of the stream. */
  readonly follows?: true;
  /** The claims that are acquired with the events, unless this aggregate holds them already. */
  readonly claims?: readonly Claim[];
  /** The response, built from the new state. A store with `carriesResponses` stores it under the ticket. */
  readonly response?: {
    readonly ticket?: { response(status: number, body: string): StoredResponse | undefined };
    readonly status: number;
    readonly body: (state: State) => string;
  };
  /**
   * Returns the revisions of other streams that the decision depends on, as appends without events. The
   * commit checks these revisions; a store that is not atomic checks them just before the commit.
   */
  readonly preconditions?: (attempt: number) => Promise<readonly StreamAppend[]>;
  /**
   * Returns an append to a new stream. A store that is not atomic writes it before it checks the
   * preconditions. A writer that changes a precondition after the check then finds this announcement.
   */
  readonly announcement?: () => Pick<StreamAppend, 'stream' | 'events'>;
  /** True to decide on the initial state first, without a read; not for personal events that need claims. */
  readonly expectNew?: boolean;
}

export interface Executed<State, Event> {
  readonly state: State;
  readonly body: string;
  readonly events: readonly Event[];
  /** The position that read models must reach to include the events; null without events. */
  readonly position: string | null;
  readonly lastId: string | null;
}

/** The error for an Idempotency-Key with a stored response, which the caller replays. */
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
