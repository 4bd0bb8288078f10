import { expect } from 'expect';
import { fold, type Aggregate, type DomainEvent } from '../../src/kernel/aggregate.js';
import { DomainError, type FieldErrors } from '../../src/kernel/domain-error.js';

interface Decided<Event> {
  /** Expects exactly these events, or none. */
  then(...events: readonly Event[]): void;
  thenRefused(code: DomainError['code'], fields?: FieldErrors): void;
}
interface Given<State, Event> {
  when(decide: (state: State) => readonly Event[]): Decided<Event>;
}

/** The spec of an aggregate: `given(...history).when(decision).then(...events)`. */
export function givenOf<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
): (...history: readonly Event[]) => Given<State, Event> {
  return (...history) => ({
    when(decide) {
      const decided = (): readonly Event[] => decide(fold(aggregate, history));
      return {
        then: (...events) => expect(decided()).toEqual(events),
        thenRefused(code, fields) {
          expect(decided).toThrow(DomainError);
          expect(decided).toThrow(expect.objectContaining({ code, ...(fields && { fields }) }));
        },
      };
    },
  });
}
