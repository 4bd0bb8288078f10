import { expect, it } from '@jest/globals';
import { outcomeOf, type Outcome } from './retry.js';

const responses: [number, Outcome][] = [
  [199, 'retry'],
  [200, 'succeeded'],
  [204, 'succeeded'],
  [299, 'succeeded'],
  [300, 'retry'],
  [301, 'retry'],
  [399, 'retry'],
  [400, 'exhausted'],
  [401, 'exhausted'],
  [407, 'exhausted'],
  [408, 'retry'],
  [409, 'exhausted'],
  [410, 'gone'],
  [411, 'exhausted'],
  [428, 'exhausted'],
  [429, 'retry'],
  [430, 'exhausted'],
  [499, 'exhausted'],
  [500, 'retry'],
  [503, 'retry'],
  [599, 'retry'],
];

it.each(responses)('a response of %i means %s', (status, outcome) => {
  expect(outcomeOf({ kind: 'responded', status, retryAfter: null })).toBe(outcome);
});

/** The table of contract.md 14.1, written a second time. */
function tabled(status: number): Outcome {
  if (status === 410) return 'gone';
  if (status === 408 || status === 429) return 'retry';
  return ({ 2: 'succeeded', 4: 'exhausted' } as const)[Math.floor(status / 100)] ?? 'retry';
}

it('every status of three digits has its outcome; those that HTTP does not know are tried again', () => {
  for (let status = 100; status <= 999; status += 1) {
    for (const retryAfter of [null, '5']) {
      const outcome = outcomeOf({ kind: 'responded', status, retryAfter });
      expect(`${status} ${outcome}`).toBe(`${status} ${tabled(status)}`);
    }
  }
});

it.each(['address', 'dns', 'connect', 'tls', 'send', 'answer', 'timeout'] as const)(
  'a failure at %s is retried',
  (phase) => {
    expect(outcomeOf({ kind: 'failed', phase })).toBe('retry');
  },
);
