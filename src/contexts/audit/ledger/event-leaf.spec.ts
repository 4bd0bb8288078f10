import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  canonicalJson,
  eventLeaf,
  exportLine,
  hashOfEvent,
  leafHash,
  readLine,
  type LeafEvent,
} from './event-leaf.js';

const event: LeafEvent = {
  position: '17',
  stream: 'payout-1',
  revision: 1,
  id: '7b0c1a52-9c5c-4a4b-8d0c-3f9a3f0e1c11',
  type: 'payout.received.v9',
  data: { b: [1, { z: null, a: 'é' }], a: '1.50' },
  metadata: { request_id: 'r' },
  recordedAt: new Date(1_700_000_000_123),
};

const TEXT =
  '{"data":{"a":"1.50","b":[1,{"a":"é","z":null}]},"id":"7b0c1a52-9c5c-4a4b-8d0c-3f9a3f0e1c11",' +
  '"metadata":{"request_id":"r"},"position":"17","recorded_at":"2023-11-14T22:13:20.123Z","revision":1,' +
  '"stream":"payout-1","type":"payout.received.v9"}';

describe('canonical JSON', () => {
  it('matches the examples of RFC 8785', () => {
    expect(
      canonicalJson({
        numbers: JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]'),
        string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
        literals: [null, true, false],
      }),
    ).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 };
    expect(canonicalJson(names)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
    );
  });

  it('is the same for any order of the members, and parses to the original value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(canonicalJson(JSON.parse('{"a": 2, "__proto__": {"b": 1}}'))).toBe('{"__proto__":{"b":1},"a":2}');
    expect(canonicalJson(JSON.parse('[{"9": 1, "b": 2, "10": 3, "a": 4}]'))).toBe(
      '[{"10":3,"9":1,"a":4,"b":2}]',
    );
  });
});

describe('the ledger leaf of an event', () => {
  it('has exactly one text, which is hashed after a zero byte', () => {
    expect(canonicalJson(eventLeaf(event))).toBe(TEXT);
    expect(hashOfEvent(event)).toEqual(createHash('sha256').update(`\0${TEXT}`).digest());
  });

  it('changes with every field of the event', () => {
    const others: Partial<LeafEvent>[] = [
      { position: '18' },
      { stream: 'payout-2' },
      { revision: 2 },
      { id: '7b0c1a52-9c5c-4a4b-8d0c-3f9a3f0e1c12' },
      { type: 'payout.received.v8' },
      { data: { ...event.data, a: '1.5' } },
      { metadata: {} },
      { recordedAt: new Date(1_700_000_000_124) },
    ];
    const hashes = [{}, ...others].map((other) => hashOfEvent({ ...event, ...other }).toString('hex'));
    expect(new Set(hashes).size).toBe(others.length + 1);
  });
});

describe('a line of an export', () => {
  const { text, leaf } = exportLine(event);
  /** A line with other members and the leaf hash that fits them. */
  const lineWith = (members: object): string => {
    const changed = { ...eventLeaf(event), ...members };
    const hash = leafHash(canonicalJson(changed)).toString('hex');
    return `${JSON.stringify(changed).slice(0, -1)},"leaf":"${hash}"}`;
  };

  it('has the leaf hash as its last member, and parses to the original event', () => {
    expect(JSON.parse(text)).toEqual({ ...eventLeaf(event), leaf: hashOfEvent(event).toString('hex') });
    expect(text).toBe(lineWith({}));
    expect(exportLine(event).position).toBe('17');
    expect(readLine(text)).toEqual({ ...event, leaf });
  });

  it('can have a position of 40 digits, and is read without its unknown members', () => {
    const position = '9'.repeat(40);
    expect(readLine(lineWith({ position }))).toMatchObject({ position });
    expect(readLine(lineWith({ note: 'x' }))).not.toHaveProperty('note');
  });

  it.each([
    ['empty', ''],
    ['cut at its end', text.slice(0, -1)],
    ['without a leaf hash', TEXT],
    [
      'with a leaf hash in upper case',
      text.replace(leaf.toString('hex'), leaf.toString('hex').toUpperCase()),
    ],
    ['with a blank after its end', `${text} `],
  ])('is refused as incomplete, or as no line of an export: %s', (_, line) => {
    expect(readLine(line)).toBe('is cut, or no line of an export');
  });

  it.each([
    ['with another amount', text.replace('"1.50"', '"1.51"')],
    ['cut at its beginning', text.slice(1)],
    ['with a number that is too large', text.replace('[1,', '[1e999,')],
  ])('is refused as changed: %s', (_, line) => {
    expect(line).not.toBe(text);
    expect(readLine(line)).toBe('does not have its leaf hash: it was changed');
  });

  it.each([
    { position: 17 },
    { position: '' },
    { position: '17 ' },
    { position: 'x17' },
    { position: '9'.repeat(41) },
    { recorded_at: 'yesterday' },
  ])('is refused if its event has %j', (members) => {
    expect(readLine(lineWith(members))).toBe('is no event');
  });
});
