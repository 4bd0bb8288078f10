import { expect, it } from '@jest/globals';
import { Pace } from './pace.js';

it('a pace lets one request go at once, and the next when its events have had their time', () => {
  const pace = new Pace(1000);
  expect(pace.waitMs(5000)).toBe(0);
  pace.taken(500, 5000);
  expect(pace.waitMs(5000)).toBe(500);
  expect(pace.waitMs(5400)).toBe(100);
  pace.taken(1000, 5400);
  expect(pace.waitMs(5500)).toBe(1000);
});

it('what was not used is not saved up', () => {
  const pace = new Pace(10);
  pace.taken(10, 0);
  expect(pace.waitMs(60_000)).toBe(0);
  pace.taken(10, 60_000);
  expect(pace.waitMs(60_000)).toBe(1000);
});
