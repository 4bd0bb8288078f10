import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isoOfMicroseconds, microsecondsOfIso, parseInstant } from './instant.js';

describe('an instant', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02t03:04:05.6789z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05.6+01:30', '2026-01-02T01:34:05.600Z'],
    ['2024-02-29T23:59:59-00:01', '2024-03-01T00:00:59.000Z'],
  ])('%s is %s', (text, iso) => expect(parseInstant(text)?.toISOString()).toBe(iso));

  it.each([
    '',
    'now',
    '2026-01-02',
    '2026-01-02T03:04Z',
    '2026-01-02T03:04:05',
    '2026-01-02 03:04:05Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+24:00',
    '1700000000',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+00:01',
    '2026-01-02T03:04:05Z ',
  ])('is not %j', (text) => expect(parseInstant(text)).toBeNull());

  it('comes back from what JavaScript writes', () => {
    const times = fc.date({
      min: new Date(0),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(fc.property(times, (time) => expect(parseInstant(time.toISOString())).toEqual(time)));
  });
});

describe('microseconds', () => {
  it.each([
    [0n, '1970-01-01T00:00:00.000000Z'],
    [-1n, '1969-12-31T23:59:59.999999Z'],
    [1_772_317_799_123_456n, '2026-02-28T22:29:59.123456Z'],
    [-62_135_596_800_000_000n, '0001-01-01T00:00:00.000000Z'],
    [253_402_300_799_999_999n, '9999-12-31T23:59:59.999999Z'],
  ])('%s are %s', (microseconds, iso) => {
    expect(isoOfMicroseconds(microseconds)).toBe(iso);
    expect(microsecondsOfIso(iso)).toBe(microseconds);
  });
});
