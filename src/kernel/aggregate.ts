/** An event. Its `type` is the stored name, for example `payout.reported.v1`. */
export interface DomainEvent<Type extends string = string, Data extends object = object> {
  readonly type: Type;
  readonly data: Data;
}

/**
 * Folds the events of a stream to a state. Decisions are separate functions `(command, state) => events`.
 * `evolve` is pure and total: an unknown event of a newer version leaves the state unchanged. `category` has
 * no dash, because a stream is named `<category>-<id>`.
 */
export interface Aggregate<State, Event extends DomainEvent> {
  readonly category: string;
  readonly initial: State;
  evolve(state: State, event: Event): State;
  /** The format of snapshots, for streams that callers can make long. A category has at most one format. */
  readonly snapshots?: SnapshotShape<State>;
}

/** The stored form of a state, so that a load does not fold the whole stream. */
export interface SnapshotShape<State> {
  /** The version. It must grow with every change of the state's shape or of `evolve`. */
  readonly version: number;
  /** The event types that `evolve` handles. A snapshot of other types or another version is ignored. */
  readonly events: readonly string[];
  pack(state: State): object;
  unpack(packed: unknown): State;
  /** Returns the id of the person whose key seals the snapshot. Erasing the key erases the snapshot. */
  subject?(state: State): string | null;
}

export function toStream(aggregate: { readonly category: string }, id: string): string {
  return `${aggregate.category}-${id}`;
}

export function fold<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  events: Iterable<Event>,
  from: State = aggregate.initial,
): State {
  let state = from;
  for (const event of events) state = aggregate.evolve(state, event);
  return state;
}

/** The members of the state that each event sets. A projection sets the columns of the same names. */
export type Changes<State, Event extends DomainEvent> = {
  readonly [Type in Event['type']]: (data: Extract<Event, { type: Type }>['data']) => Partial<State>;
};

/** Applies the change of an event. Returns the same state for an event that is not in `changes`. */
export function withChanges<State extends object>(
  changes: object,
  { type, data }: DomainEvent,
  state: State,
): State {
  const change = (changes as Readonly<Record<string, ((data: object) => Partial<State>) | undefined>>)[type];
  return change === undefined ? state : { ...state, ...change(data) };
}
