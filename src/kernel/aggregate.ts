/** An event as the domain sees it. `type` is its stored name, for example `payout.reported.v1`. */
export interface DomainEvent<Type extends string = string, Data extends object = object> {
  readonly type: Type;
  readonly data: Data;
}

/**
 * The folding half of a decider. Decisions are plain functions `(command, state) => events` in the same file.
 * `evolve` is pure and total: an event of a newer version, which this one does not know, leaves the state as it is.
 * `category` holds no dash, because a stream is named `<category>-<id>`.
 */
export interface Aggregate<State, Event extends DomainEvent> {
  readonly category: string;
  readonly initial: State;
  evolve(state: State, event: Event): State;
  /** For streams that somebody outside can make long; one aggregate of a category at most. Others are read in full. */
  readonly snapshots?: SnapshotShape<State>;
}

/** How a state is kept, so that not every load folds the whole stream. */
export interface SnapshotShape<State> {
  /** Goes up with every change of the state, or of what `evolve` makes of an event. */
  readonly version: number;
  /** What `evolve` knows. Snapshots of another version, or of code that knows other events, are not believed. */
  readonly events: readonly string[];
  /** JSON and back. */
  pack(state: State): object;
  unpack(packed: unknown): State;
  /** Whose personal data the state holds: kept sealed with the key of that person, and forgotten with it. */
  subject?(state: State): string | null;
}

export function streamOf(aggregate: { readonly category: string }, id: string): string {
  return `${aggregate.category}-${id}`;
}

/** Folds a history into a state; the base of every given/when/then spec and of every load. */
export function fold<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  events: Iterable<Event>,
  from: State = aggregate.initial,
): State {
  let state = from;
  for (const event of events) state = aggregate.evolve(state, event);
  return state;
}
