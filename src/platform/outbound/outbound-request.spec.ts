import { describe, expect, it } from '@jest/globals';
import { httpDate, retryAfterMs } from './outbound-request.js';

const NOW = Date.UTC(2026, 0, 1);

describe('Retry-After', () => {
  it.each([
    ['60', 60_000],
    [' 7 ', 7000],
    ['0', 0],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
    [null, null],
    [new Date(NOW + 90_000).toUTCString(), 90_000],
    [new Date(NOW - 90_000).toUTCString(), 0],
  ])('%j requests %j ms', (field, ms) => expect(retryAfterMs(field, NOW)).toBe(ms));
});

describe('an HTTP-date', () => {
  const time = Date.UTC(1994, 10, 6, 8, 49, 37);
  it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    '%s is read',
    (text) => {
      expect(httpDate(text, NOW)).toBe(time);
    },
  );
  it.each([
    '1994-11-06T08:49:37Z',
    '06 Nov 1994',
    '',
    'Wed, 31 Feb 2026 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
  ])('is not %j', (text) => expect(httpDate(text, NOW)).toBeNull());
  it('reads a year of two digits as at most 50 years ahead', () => {
    expect(httpDate('Sunday, 06-Nov-76 08:49:37 GMT', NOW)).toBe(Date.UTC(2076, 10, 6, 8, 49, 37));
    expect(httpDate('Sunday, 06-Nov-77 08:49:37 GMT', NOW)).toBe(Date.UTC(1977, 10, 6, 8, 49, 37));
  });
});
