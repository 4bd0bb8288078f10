import { describe, expect, it } from '@jest/globals';
import type { DomainEvent } from './aggregate.js';
import { DomainError } from './domain-error.js';
import { historyRules, onlyOnce } from './history-rules.js';

type Event = DomainEvent<'made', { id: string; n: number }> | DomainEvent<'ended', { id: string }>;

const rules = historyRules<string, Event>(
  {
    category: 'thing',
    initial: 'none',
    evolve: (_state, { type }) => type,
  },
  {
    made: (data, state) => {
      if (state === 'made') throw new DomainError('invalid_transition', 'It is made already');
      return [{ type: 'made', data: { ...data, n: 1 } }];
    },
    ended: (data, state) => (state === 'made' ? [{ type: 'ended', data }] : []),
  },
  { id: 'id' },
);
const broken = (state: string, type: string, data: object): string | null =>
  rules.judge(state, { type, data } as Event, 'a').broken;

describe('the rules of a history', () => {
  it('are kept by what its decisions decide', () => {
    expect(broken('none', 'made', { n: 1, id: 'a' })).toBeNull();
    expect(broken('made', 'ended', { id: 'a' })).toBeNull();
    expect(rules.judge('none', { type: 'made', data: { id: 'a', n: 1 } }, 'a').state).toBe('made');
  });

  it.each([
    ['a refusal, in its words', 'made', 'made', { id: 'a', n: 1 }, 'It is made already'],
    ['what does not follow', 'none', 'ended', { id: 'a' }, 'it does not follow from what was before it'],
    ['another value', 'none', 'made', { id: 'a', n: 2 }, 'its n is 2, and what was before it gives 1'],
    ['a member too few', 'none', 'made', { id: 'a' }, 'its n is missing, and what was before it gives 1'],
    ['a member too many', 'none', 'made', { id: 'a', n: 1, m: [] }, null],
    ['another stream', 'none', 'made', { id: 'b', n: 1 }, 'its id is b, not that of its stream'],
  ])('are broken by %s', (_name, state, type, data, words) => {
    expect(broken(state, type, data)).toBe(words);
  });

  it('of what comes once', () => {
    const once = onlyOnce<DomainEvent<'asked', object>>('ask', 'asked').rules;
    const { state, broken: first } = once.judge(once.initial, { type: 'asked', data: {} }, 'a');
    expect(first).toBeNull();
    expect(once.judge(state, { type: 'asked', data: {} }, 'a').broken).not.toBeNull();
  });
});
