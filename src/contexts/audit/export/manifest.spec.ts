import { describe, expect, it } from '@jest/globals';
import { readManifest } from './manifest.js';

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
const manifest = {
  format: 'disburse-export.v3',
  log_id: 'l',
  part_events: 10,
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
    const empty = { signed_head: null, parts: [], log_end: null };
    expect(read(empty)).toEqual({ ...manifest, ...empty });
  });

  it.each<[object, string]>([
    [{ format: 'disburse-export.v2' }, 'its format is disburse-export.v2'],
    [{ part_events: '7' }, 'part_events is string, expected number'],
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
    expect(() => read(over)).toThrow('m.json is not a manifest of the format disburse-export.v3: ');
    expect(() => read(over)).toThrow(why);
  });

  it.each(['{', 'null', '7', '"x"', '{}'])('is not %s', (text) => {
    expect(() => readManifest('m.json', text)).toThrow('m.json is not a manifest');
  });
});
