import { describe, expect, it } from '@jest/globals';
import { readPoint } from './manifest.js';

describe('a point of the log', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:30', '2026-01-31T12:30:00.000Z'],
    ['2026-01-31 12:30:15', '2026-01-31T12:30:15.000Z'],
    ['2026-01-31T12:30:15.1239Z', '2026-01-31T12:30:15.123Z'],
    ['2026-01-31T12:30+02:00', '2026-01-31T10:30:00.000Z'],
    ['2026-01-31T12:30:15-05:30', '2026-01-31T18:00:15.000Z'],
  ])('given as %s is the time %s', (text, time) => {
    expect(readPoint(text)).toEqual({ kind: 'time', time: new Date(time) });
  });

  it.each([
    ['0', '0'],
    ['0017', '17'],
    ['20260131', '20260131'],
  ])('given as %s is the position %s', (text, position) => {
    expect(readPoint(text)).toEqual({ kind: 'position', position });
  });

  it.each(['', 'now', '-1', '2026-02-30', '2026-01-31T25:00', '31.01.2026', '2026-01-31T12', '12:00'])(
    'is not %s',
    (text) => {
      expect(readPoint(text)).toBeNull();
    },
  );
});
