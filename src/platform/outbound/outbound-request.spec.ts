import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './outbound-request.js';

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
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
    ['Thursday, 01-Jan-26 00:01:30 GMT', 90_000],
    ['Thu Jan  1 00:01:30 2026', 90_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sun, 00 Nov 1994 08:49:37 GMT', null],
    ['2026-01-01T00:01:30Z', null],
    ['Invalid Date', null],
    ['Sat, 31 Feb 2026 08:49:37 GMT', null],
    ['Thu, 01 Jan 2026 24:00:00 GMT', null],
    ['Thu, 01 Jan 2026 00:60:00 GMT', null],
  ])('%j requests %j ms', (field, ms) => expect(retryAfterMs(field, NOW)).toBe(ms));
});
