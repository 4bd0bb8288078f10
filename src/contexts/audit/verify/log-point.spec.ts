import { describe, expect, it } from '@jest/globals';
import { readPoint } from './log-point.js';

describe('a point of the log', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 12:30', '2026-01-31T12:30:00.000Z'],
    ['2026-01-31T12:30:15-05:30', '2026-01-31T18:00:15.000Z'],
  ])('given as %s means the time %s', (text, time) => {
    expect(readPoint(text)).toEqual({ kind: 'time', time: new Date(time) });
  });

  it.each([
    ['0', '0'],
    ['0017', '17'],
    ['20260131', '20260131'],
  ])('given as %s means the position %s', (text, position) => {
    expect(readPoint(text)).toEqual({ kind: 'position', position });
  });

  it.each(['', 'now', '-1', '2026-02-30'])('is not %s', (text) => {
    expect(readPoint(text)).toBeNull();
  });
});
