import { expect, it } from '@jest/globals';
import { nameOnCard } from './stripe-api.adapter.js';

it('a card has room for 24 characters of a name', () => {
  expect(nameOnCard('Ada', 'Lovelace')).toBe('Ada Lovelace');
  expect(nameOnCard('Maria Anna Josefina', 'Hohenzollern-Sigmaringen')).toBe('M A J Hohenzollern-Sigma');
  expect(nameOnCard('A'.repeat(100), 'B'.repeat(100))).toHaveLength(24);
  expect(nameOnCard('Sukarno', null)).toBe('Sukarno');
  expect(nameOnCard(`${'A'.repeat(23)} B`, null)).toBe('A'.repeat(23));
});
