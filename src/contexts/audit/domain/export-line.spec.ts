import { describe, expect, it } from '@jest/globals';
import { hashOfEvent, leafHash, type StoredEvent } from './event-leaf.js';
import { exportLine, readLine } from './export-line.js';

const event: StoredEvent = {
  ...{ position: '7', stream: 's', revision: 2, id: 'e', type: 'thing.made.v1' },
  ...{ data: { n: 1 }, metadata: { actor: 'a' }, recordedAt: new Date(1_700_000_000_123) },
};
/** A line of any text that has its own leaf hash. */
const lineOf = (text: string): string => `${text.slice(0, -1)},"leaf":"${leafHash(text).toString('hex')}"}`;

describe('a line of an export', () => {
  it('is the event with its leaf, and is read as that', () => {
    const { text, leaf } = exportLine(event);
    expect(leaf).toEqual(hashOfEvent(event));
    expect(JSON.parse(text)).toMatchObject({ position: '7', leaf: leaf.toString('hex') });
    expect(readLine(text)).toEqual({ ...event, leaf });
  });

  it.each<[string, (line: string) => string, string]>([
    ['changed', (line) => line.replace('"n":1', '"n":2'), 'does not have its leaf hash: it was changed'],
    ['cut', (line) => line.slice(0, -1), 'is cut, or no line of an export'],
    ['prolonged', (line) => `${line} `, 'is cut, or no line of an export'],
    ['empty', () => '', 'is cut, or no line of an export'],
    ['no JSON, and well hashed', () => lineOf('{x}'), 'is no event'],
    ['without a position', () => lineOf('{"recorded_at":"2026-01-01T00:00:00.000Z"}'), 'is no event'],
    ['without a time', () => lineOf('{"position":"7"}'), 'is no event'],
    ['of a time that is none', () => lineOf('{"position":"7","recorded_at":"then"}'), 'is no event'],
  ])('is refused when it is %s', (_what, change, why) => {
    expect(readLine(change(exportLine(event).text))).toBe(why);
  });
});
