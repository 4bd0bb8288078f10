import { describe, expect, it } from '@jest/globals';
import type { DomainEvent } from './aggregate.js';
import { DomainError } from './domain-error.js';
import { historyRules, onlyOnce } from './history-rules.js';

type Event = DomainEvent<'created', { id: string; n: number }> | DomainEvent<'ended', { id: string }>;

const rules = historyRules<string, Event>(
  {
    category: 'thing',
    initial: 'none',
    evolve: (_state, { type, data }) => {
      if (typeof data.id !== 'string') throw new Error('Invalid id');
      return type;
    },
  },
  {
    created: (data, state) => {
      if (state === 'created') throw new DomainError('invalid_transition', 'It is created already');
      return [{ type: 'created', data: { ...data, n: 1 } }];
    },
    ended: (data, state) => (state === 'created' ? [{ type: 'ended', data }] : []),
  },
  { id: 'id' },
);
const broken = (state: string, type: string, data: object): string | null =>
  rules.evaluate(state, { type, data } as Event, 'a').broken;

describe('the audit rules of an aggregate', () => {
  it('accept an event that a decision of the aggregate returns', () => {
    expect(broken('none', 'created', { n: 1, id: 'a' })).toBeNull();
    expect(broken('created', 'ended', { id: 'a' })).toBeNull();
    expect(rules.evaluate('none', { type: 'created', data: { id: 'a', n: 1 } }, 'a').state).toBe('created');
  });

  it.each([
    ['an event that the decision refuses', 'created', 'created', { id: 'a', n: 1 }, 'It is created already'],
    ['a false order of events', 'none', 'ended', { id: 'a' }, 'it does not follow from what was before it'],
    ['a member with another value', 'none', 'created', { id: 'a', n: 2 }, 'its n is 2, expected 1'],
    ['a missing member', 'none', 'created', { id: 'a' }, 'its n is missing, expected 1'],
    ['a further member that the decision copies', 'none', 'created', { id: 'a', n: 1, m: [] }, null],
    ['the id of another stream', 'none', 'created', { id: 'b', n: 1 }, 'its id is b, not that of its stream'],
  ])('return the broken rule, or null, for %s', (_name, state, type, data, words) => {
    expect(broken(state, type, data)).toBe(words);
  });

  it('are broken by values that the decision or the state cannot handle', () => {
    const evaluate = (data: unknown) =>
      rules.evaluate('none', { type: 'created', data } as unknown as Event, 'a');
    const unreadable = 'a field is missing or invalid';
    expect(evaluate(null)).toEqual({ state: 'none', broken: unreadable });
    expect(evaluate({ id: 7, n: 1 })).toEqual({
      state: 'none',
      broken: expect.stringContaining('its id is 7'),
    });
  });

  it('return the state after an event that breaks them', () => {
    const event = { type: 'created', data: { id: 'a', n: 2 } } as Event;
    expect(rules.evaluate('none', event, 'a')).toEqual({ state: 'created', broken: expect.any(String) });
  });

  it('are broken by a second event of a type that may occur once', () => {
    const once = onlyOnce<DomainEvent<'requested', object>>('request', 'requested').rules;
    const { state, broken: first } = once.evaluate(once.initial, { type: 'requested', data: {} }, 'a');
    expect(first).toBeNull();
    expect(once.evaluate(state, { type: 'requested', data: {} }, 'a').broken).not.toBeNull();
  });
});
