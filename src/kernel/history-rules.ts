import type { Aggregate, DomainEvent } from './aggregate.js';
import { DomainError } from './domain-error.js';

/** The rules by which an audit checks the histories of one category, event by event. */
export interface HistoryRules {
  readonly category: string;
  readonly events: readonly string[];
  readonly initial: unknown;
  /** Returns the state after the event, and the broken rule or null. `id` is the id of the stream. */
  evaluate(
    state: unknown,
    event: DomainEvent,
    id: string,
  ): { readonly state: unknown; readonly broken: string | null };
}

/** A check across streams that gets every event of a log in order. Returns the broken rule, or null. */
export type LogRule = (event: DomainEvent) => string | null;

const UNREADABLE = 'a field is missing or invalid';
const UNFOUNDED = 'it does not follow from what was before it';

/** The decisions by event type, called with recorded data. They return events, or a broken rule as text. */
type Decisions<State, Event extends DomainEvent> = {
  readonly [Type in Event['type']]: (
    data: Extract<Event, { type: Type }>['data'],
    state: State,
  ) => readonly Event[] | string;
};

interface Options<State> {
  /** The event member that contains the id of the stream. */
  readonly id?: string;
  /** Reduces the state in memory to the parts that later decisions need. */
  readonly remember?: (state: State) => State;
}

/** Creates rules that accept an event if its decision on the previous state returns the same event. */
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
      const broken = brokenBy(event, state, decisions, idName, id);
      try {
        return { state: remember(aggregate.evolve(state, event)), broken };
      } catch {
        return { state, broken: broken ?? UNREADABLE };
      }
    },
  };
}

function brokenBy<State, Event extends DomainEvent>(
  event: Event,
  state: State,
  decisions: Decisions<State, Event>,
  idName: string | undefined,
  id: string,
): string | null {
  const decide = decisions[event.type as Event['type']] as (
    data: object,
    state: State,
  ) => readonly Event[] | string;
  try {
    const said = idName === undefined ? id : (event.data as Members)[idName];
    if (said !== id) return `its ${idName} is ${String(said)}, not that of its stream`;
    const decided = decide(event.data, state);
    if (typeof decided === 'string') return decided;
    const same = decided.find(({ type }) => type === event.type);
    return same === undefined ? UNFOUNDED : difference(same.data, event.data);
  } catch (error) {
    // A tampered event may have any value, such as an amount that is not a number.
    return error instanceof DomainError ? error.message : UNREADABLE;
  }
}

/** Describes the first member that differs between decision and record, or returns null. */
function difference(decided: object, recorded: object): string | null {
  const [due, said] = [decided as Members, recorded as Members];
  for (const name in due) {
    const isSame = due[name] === said[name] || JSON.stringify(due[name]) === JSON.stringify(said[name]);
    if (!isSame) return broken(name, due, said);
  }
  for (const name in said) if (!(name in due)) return broken(name, due, said);
  return null;
}

type Members = Readonly<Record<string, unknown>>;

function broken(name: string, due: Members, said: Members): string {
  const [a, b] = [JSON.stringify(due[name]), JSON.stringify(said[name])];
  return `its ${name} is ${b ?? 'missing'}, expected ${a ?? 'none'}`;
}

/** The aggregate of a stream with a single event of one type. */
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
