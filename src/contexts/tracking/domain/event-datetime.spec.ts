import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventDatetime } from '../../../../test/support/tracking/event-batches.js';
import { isEventDatetime, utcOf } from './event-datetime.js';

describe('an event_datetime', () => {
  it.each([
    ['2026-02-28T23:59:00Z', '2026-02-28T23:59:00.000000Z'],
    ['2026-02-28T23:59', '2026-02-28T23:59:00.000000Z'],
    ['2026-02-28T23:59Z', '2026-02-28T23:59:00.000000Z'],
    ['2026-02-28t23:59:58z', '2026-02-28T23:59:58.000000Z'],
    ['2026-02-28T23:59:59.1', '2026-02-28T23:59:59.100000Z'],
    ['2026-02-28T23:59:59.123456789Z', '2026-02-28T23:59:59.123456Z'],
    ['2026-02-28T23:59:59.999999999Z', '2026-02-28T23:59:59.999999Z'],
    ['2026-01-01T00:30:07.5+01:00', '2025-12-31T23:30:07.500000Z'],
    ['2024-02-28T23:30-00:30', '2024-02-29T00:00:00.000000Z'],
    ['2026-06-30T12:00:00-00:00', '2026-06-30T12:00:00.000000Z'],
    ['2026-06-30T12:00:00+23:59', '2026-06-29T12:01:00.000000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['0001-01-01T01:00+01:00', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999999Z'],
    ['9999-12-31T22:59:59-01:00', '9999-12-31T23:59:59.000000Z'],
  ])('%s is %s', (text, utc) => {
    expect(isEventDatetime(text)).toBe(true);
    expect(utcOf(text)).toBe(utc);
  });

  it.each([
    '',
    'now',
    '2026',
    '2026-02-28',
    '20260228T235900Z',
    '1767225600',
    '2026-W05-1T10:00Z',
    '2026-059T10:00Z',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '0000-12-31T23:30:00-01:00',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '+12026-01-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-06-30T23:59:60Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01 00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z ',
    '2026-01-01T00:00:00 Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00,5Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00.5Z',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00+01',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+01:60',
    '2026-01-01T00:00:00ZZ',
    '2026-01-01T00:00:0',
    '2026-01-01T00:00:',
    '2026-01-01T0:00:00Z',
    '2026-01-01T00:00:00X',
    '2026-01-01T00:00:00+01:00Z',
    '２026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Ｚ',
    '2026-01-01T00:00:0\u0130Z',
    '2026/01/01T00:00:00Z',
    '2026-1-1T00:00:00Z',
    '2026-01-01T00-00-00Z',
    '2026-01-01T00:00:00.5+1:00',
  ])('is not %j', (text) => expect(isEventDatetime(text)).toBe(false));

  it('exists exactly when its day is in the calendar', () => {
    const days = naiveCalendar();
    const anyDay = fc
      .tuple(fc.integer({ min: 1890, max: 2110 }), fc.nat(14), fc.nat(33))
      .map(
        ([year, month, day]) => `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`,
      );
    fc.assert(
      fc.property(anyDay, (day) => expect(isEventDatetime(`${day}T10:00:00Z`)).toBe(days.has(day))),
      { numRuns: 3000 },
    );
    for (const day of days) if (!isEventDatetime(`${day}T23:59Z`)) throw new Error(`${day} is refused`);
  });

  it('is the instant that JavaScript reads, where it can read it', () => {
    fc.assert(
      fc.property(eventDatetime, (text) => {
        expect(isEventDatetime(text)).toBe(true);
        // JavaScript takes a time without zone for local, and cuts what is finer than milliseconds.
        const zoned = /(z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`;
        expect(new Date(utcOf(text)).toISOString()).toBe(new Date(zoned).toISOString());
        expect(utcOf(utcOf(text))).toBe(utcOf(text));
      }),
      { numRuns: 2000 },
    );
  });
});

/** Every day from 1890 to 2110, by counting. */
function naiveCalendar(): Set<string> {
  const days = new Set<string>();
  for (let year = 1890; year <= 2110; year += 1) {
    const leap = year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0);
    const lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    lengths.forEach((length, month) => {
      for (let day = 1; day <= length; day += 1)
        days.add(`${year}-${String(month + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}`);
    });
  }
  return days;
}
