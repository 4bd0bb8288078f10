import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeCursor, decodeExactCursor, encodeCursor, encodeExactCursor } from './page-cursor.js';

describe('a page cursor', () => {
  it('decodes to the place it encodes', () => {
    const times = fc.date({
      min: new Date(0),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(times, fc.uuid(), (createdAt, id) => {
        expect(decodeCursor(encodeCursor({ createdAt, id }))).toEqual({ createdAt, id });
      }),
    );
  });

  it('is refused when any character of it differs', () => {
    const cursor = encodeCursor({
      createdAt: new Date(1_700_000_000_000),
      id: '00000000-0000-4000-8000-00000000abcd',
    });
    for (let at = 0; at < cursor.length; at += 1) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      expect(decodeCursor(cursor.slice(0, at) + other + cursor.slice(at + 1))).toBeNull();
    }
  });

  it.each(['', 'abc', 'A'.repeat(35), '!'.repeat(35), 'null', '1'])('is refused when it is %j', (text) =>
    expect(decodeCursor(text)).toBeNull(),
  );
});

describe('a page cursor in microseconds', () => {
  const place = { microseconds: -62_135_596_800_000_000n, id: '00000000-0000-4000-8000-00000000abcd' };

  it('decodes to the place it encodes, also before 1970', () => {
    const microseconds = fc.bigInt({ min: place.microseconds, max: 253_402_300_799_999_999n });
    fc.assert(
      fc.property(microseconds, fc.uuid(), (each, id) => {
        expect(decodeExactCursor(encodeExactCursor({ microseconds: each, id }))).toEqual({
          microseconds: each,
          id,
        });
      }),
    );
  });

  it('is refused by a list in milliseconds, and the other way round', () => {
    expect(decodeCursor(encodeExactCursor(place))).toBeNull();
    expect(decodeExactCursor(encodeCursor({ createdAt: new Date(0), id: place.id }))).toBeNull();
  });

  it('is refused when it lies outside of the years 0001 to 9999', () => {
    const before = { ...place, microseconds: place.microseconds - 1n };
    expect(decodeExactCursor(encodeExactCursor(before))).toBeNull();
    expect(decodeExactCursor(encodeExactCursor({ ...place, microseconds: 2n ** 60n }))).toBeNull();
  });
});
