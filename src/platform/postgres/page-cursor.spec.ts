import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isoOfMicroseconds } from '../../kernel/instant.js';
import { decodeCursor, encodeCursor } from './page-cursor.js';

const ID = '00000000-0000-4000-8000-00000000abcd';
const [EARLIEST, LATEST] = [-62_135_596_800_000_000n, 253_402_300_799_999_999n];

describe('a page cursor', () => {
  it('decodes to the place that it encodes, to the microsecond and also before 1970', () => {
    const times = fc.bigInt({ min: EARLIEST, max: LATEST }).map(isoOfMicroseconds);
    fc.assert(
      fc.property(times, fc.uuid(), (time, id) => {
        expect(decodeCursor(encodeCursor(time, id))).toEqual({ time, id });
      }),
    );
  });

  it('is the same for a Date as for its ISO text', () => {
    const date = new Date(1_700_000_000_123);
    expect(encodeCursor(date, ID)).toBe(encodeCursor(isoOfMicroseconds(1_700_000_000_123_000n), ID));
  });

  it('is refused if any of its characters differs', () => {
    const cursor = encodeCursor(new Date(1_700_000_000_000), ID);
    for (let at = 0; at < cursor.length; at += 1) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      expect(decodeCursor(cursor.slice(0, at) + other + cursor.slice(at + 1))).toBeNull();
    }
  });

  it.each(['', 'abc', 'A'.repeat(35), 'A'.repeat(38), '!'.repeat(38), 'null', '1'])(
    'is refused when it is %j',
    (text) => expect(decodeCursor(text)).toBeNull(),
  );

  it('is refused if its time is outside the years 0001 to 9999', () => {
    for (const ms of [Number(EARLIEST / 1000n) - 1, Number(LATEST / 1000n) + 1])
      expect(decodeCursor(encodeCursor(new Date(ms), ID))).toBeNull();
  });
});
