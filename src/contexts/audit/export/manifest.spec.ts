import { describe, expect, it } from '@jest/globals';
import { isWhole, readManifest, readPoint } from './manifest.js';

const part = { file: 'f', bytes: 1, sha256: 'ab', events: 1, first_position: '1', last_position: '1' };
const head = {
  log_id: 'l',
  size: 1,
  root: 'ab',
  position: '1',
  signed_at: 'then',
  key_id: 'k',
  previous: null,
  signature: 'cd',
};
const key = { key_id: 'k', public_key: 'p', made_at: 'then', former_key_id: null, signature: null };
const scope = { merchant: null, from: null, to: null, part_events: 10 };
const manifest = {
  format: 'disburse-export.v2',
  log_id: 'l',
  scope,
  log_end: '1',
  exported_at: 'then',
  events: 1,
  first_position: '1',
  last_position: '1',
  parts: [part],
  merkle_root: 'ab',
  signed_head: head,
  signing_keys: [key],
  key_ring: [{ key_id: 'k', master_id: 'm', wrapped: 's1.w' }],
};
const read = (over: object): unknown => readManifest('m.json', JSON.stringify({ ...manifest, ...over }));

describe('the manifest of an export', () => {
  it('is read with its signed head and its keys', () => {
    expect(read({})).toEqual(manifest);
    expect(read({ signed_head: null, parts: [] })).toEqual({ ...manifest, signed_head: null, parts: [] });
    const ofPart = { scope: { ...scope, merchant: 'm', from: '1', to: '2' }, log_end: null };
    expect(read(ofPart)).toEqual({ ...manifest, ...ofPart });
  });

  it('describes a whole log only if it has no merchant, start or end', () => {
    expect(isWhole(scope)).toBe(true);
    for (const name of ['merchant', 'from', 'to']) expect(isWhole({ ...scope, [name]: '1' })).toBe(false);
  });

  it.each<[object, string]>([
    [{ format: 'disburse-export.v1' }, 'unknown format disburse-export.v1'],
    [{ scope: { ...scope, merchant: 7 } }, 'merchant is number, expected string null'],
    [{ scope: 'x' }, 'merchant is undefined'],
    [{ events: undefined }, 'events is undefined, expected number'],
    [{ log_id: null }, 'log_id is null, expected string'],
    [{ log_end: 7 }, 'log_end is number, expected string null'],
    [{ parts: {} }, 'not iterable'],
    ...Object.keys(part).map((name): [object, string] => [
      { parts: [part, { ...part, [name]: null }] },
      `${name} is null`,
    ]),
    [{ parts: [null, part] }, 'file is undefined'],
    [{ key_ring: [{ key_id: 'k' }] }, 'master_id is undefined'],
    [{ signed_head: undefined }, 'log_id is undefined'],
    [{ signed_head: { ...head, size: 0 } }, 'size must be a positive integer'],
    [{ signing_keys: undefined }, 'undefined'],
    [{ signing_keys: [key, {}] }, 'key_id is undefined'],
  ])('is refused with %j', (over, why) => {
    expect(() => read(over)).toThrow('m.json is not a manifest of the format disburse-export.v2: ');
    expect(() => read(over)).toThrow(why);
  });

  it.each(['{', 'null', '7', '"x"', '{}'])('is refused if its text is %s', (text) => {
    expect(() => readManifest('m.json', text)).toThrow('m.json is not a manifest');
  });
});

describe('a point of the log', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:30', '2026-01-31T12:30:00.000Z'],
    ['2026-01-31 12:30:15', '2026-01-31T12:30:15.000Z'],
    ['2026-01-31T12:30:15.1239Z', '2026-01-31T12:30:15.123Z'],
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

  it.each(['', 'now', '-1', '2026-02-30', '2026-01-31T25:00', '2026-01-31T12', '12:00'])(
    'cannot be given as "%s"',
    (text) => {
      expect(readPoint(text)).toBeNull();
    },
  );
});
