import type { Aggregate, DomainEvent } from './aggregate.js';
import { DomainError } from './domain-error.js';

/** The rules that every history of one category keeps, for an audit, event by event. */
export interface HistoryRules {
  readonly category: string;
  /** Stored names of the events that it evaluates. */
  readonly events: readonly string[];
  /** The opaque state before the first event. It is small once a history has ended. */
  readonly initial: unknown;
  /** The state after the event, and the rule that the event breaks, in words, or null. `id` names the stream within its category. */
  evaluate(state: unknown, event: DomainEvent, id: string): Evaluation;
}

/** A rule across streams, given every event of a log in order: the rule that the event breaks, in words, or null. */
export type LogRule = (event: DomainEvent) => string | null;

interface Evaluation {
  readonly state: unknown;
  readonly broken: string | null;
}

const UNREADABLE = 'it lacks what such an event says, or has a value that is none';
const UNFOUNDED = 'it does not follow from what was before it';

/** The decision behind an event, repeated with the data of the event; or the rule that it breaks. */
type Decisions<State, Event extends DomainEvent> = {
  readonly [Type in Event['type']]: (
    data: Extract<Event, { type: Type }>['data'],
    state: State,
  ) => readonly Event[] | string;
};

interface Options<State> {
  /** Name of the member of each event that is the id of its stream. */
  readonly id?: string;
  /** Reduces a state that is kept in memory to what later events depend on. */
  readonly remember?: (state: State) => State;
}

/** An event is legal when its decision, in the state before it, decides that very event. */
export function historyRules<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  decisions: Decisions<State, Event>,
  { id: idName, remember = (state) => state }: Options<State> = {},
): HistoryRules {
  return {
    category: aggregate.category,
    events: Object.keys(decisions),
    initial: aggregate.initial,
    evaluate: (before, recorded, id) => {
      const state = before as State;
      const event = recorded as Event;
      const broken = brokenBy(event, state, decisions, () => wrongStream(event, idName, id));
      try {
        return { state: remember(aggregate.evolve(state, event)), broken };
      } catch {
        return { state, broken: broken ?? UNREADABLE };
      }
    },
  };
}

function wrongStream({ data }: DomainEvent, idName: string | undefined, id: string): string | null {
  if (idName === undefined) return null;
  const said = (data as Readonly<Record<string, unknown>>)[idName];
  return said === id ? null : `its ${idName} is ${String(said)}, not that of its stream`;
}

function brokenBy<State, Event extends DomainEvent>(
  event: Event,
  state: State,
  decisions: Decisions<State, Event>,
  wrong: () => string | null,
): string | null {
  const decide = decisions[event.type as Event['type']] as (
    data: object,
    state: State,
  ) => readonly Event[] | string;
  try {
    const other = wrong();
    if (other !== null) return other;
    const decided = decide(event.data, state);
    if (typeof decided === 'string') return decided;
    const same = decided.find(({ type }) => type === event.type);
    return same === undefined ? UNFOUNDED : difference(same.data, event.data);
  } catch (error) {
    // A writer of the database may put any value into an event, such as an amount that is no number.
    return error instanceof DomainError ? error.message : UNREADABLE;
  }
}

/** The first member in which what was recorded is not what was decided. */
function difference(decided: object, recorded: object): string | null {
  const [due, said] = [decided as Members, recorded as Members];
  for (const name in due) {
    if (due[name] !== said[name] && !isSame(due[name], said[name])) return broken(name, due, said);
  }
  for (const name in said) if (!(name in due)) return broken(name, due, said);
  return null;
}

type Members = Readonly<Record<string, unknown>>;

/** Lists and objects of JSON; what is absent is not there either way. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function broken(name: string, due: Members, said: Members): string {
  const [a, b] = [JSON.stringify(due[name]), JSON.stringify(said[name])];
  return `its ${name} is ${b ?? 'missing'}, and what was before it gives ${a ?? 'none'}`;
}

/** A stream that holds one event of one type. */
export function onlyOnce<Event extends DomainEvent>(
  category: string,
  type: Event['type'],
): Aggregate<'none' | 'there', Event> & { readonly rules: HistoryRules } {
  const rules: HistoryRules = {
    category,
    events: [type],
    initial: 'none',
    evaluate: (state) => ({ state: 'there', broken: state === 'none' ? null : UNFOUNDED }),
  };
  return { category, initial: 'none', evolve: () => 'there', rules };
}
