import { describe, expect, it } from '@jest/globals';
import en from '../../src/contexts/exchange/words/en.json' with { type: 'json' };
import { formatIn } from '../format.js';
import { chainName, clock, spokenMilestone } from './messages.js';

const format = formatIn(en);

describe('a countdown', () => {
  it.each([
    [0, '0:00'],
    [-5, '0:00'],
    [1, '0:01'],
    [65_000, '1:05'],
    [3_600_000, '1:00:00'],
    [86_400_000, '24:00:00'],
  ])('of %d ms is displayed as %s', (ms, text) => expect(clock(ms)).toBe(text));

  it('is announced at 30, 10, 5 minutes and 1 minute', () => {
    const spoken = Array.from({ length: 3600 }, (_, seconds) =>
      spokenMilestone(format, seconds * 1000),
    ).filter((each) => each !== null);
    expect(spoken).toEqual(['1 minute left', '5 minutes left', '10 minutes left', '30 minutes left']);
  });
});

it('a sandbox chain is never displayed by its name alone', () => {
  expect(chainName(format, { sandbox: true }, 'Ethereum')).toBe('Ethereum (sandbox)');
  expect(chainName(format, { sandbox: false }, 'Ethereum')).toBe('Ethereum');
});
