import { describe, expect, it } from '@jest/globals';
import { isWhole, readManifest } from './manifest.js';

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
const read = (over: object): unknown => readManifest(JSON.stringify({ ...manifest, ...over }));

describe('the manifest of an export', () => {
  it('is read with its head and keys', () => {
    expect(read({})).toEqual(manifest);
    expect(read({ signed_head: null, parts: [] })).toEqual({ ...manifest, signed_head: null, parts: [] });
    expect(read({ scope: { ...scope, merchant: 'm', from: '1', to: '2' }, log_end: null })).toMatchObject({
      scope: { merchant: 'm' },
    });
  });

  it('is not read without keys', () => {
    expect(read({ signing_keys: undefined })).toBe('names signing keys that are none');
    expect(read({ key_ring: [{ key_id: 'k' }] })).toBe('names keys of MACs that are none');
  });

  it('is that of the whole log without a merchant and ends', () => {
    expect(isWhole(scope)).toBe(true);
    for (const name of ['merchant', 'from', 'to']) expect(isWhole({ ...scope, [name]: '1' })).toBe(false);
  });

  it.each<[string, object, string]>([
    ['of another format', { format: 'disburse-export.v1' }, 'is not of the format disburse-export.v2'],
    ...['merchant', 'from', 'to', 'part_events'].map((name): [string, object, string] => [
      `without ${name} in what was requested`,
      { scope: { ...scope, [name]: undefined } },
      'lacks what a manifest says',
    ]),
    ['with a number for a merchant', { scope: { ...scope, merchant: 7 } }, 'lacks what a manifest says'],
    ['without what was requested', { scope: null }, 'lacks what a manifest says'],
    ['with a text for what was requested', { scope: 'x' }, 'lacks what a manifest says'],
    ['without a count', { events: undefined }, 'lacks what a manifest says'],
    ['without a log', { log_id: null }, 'lacks what a manifest says'],
    ['without an end', { log_end: 7 }, 'lacks what a manifest says'],
    ['without parts', { parts: {} }, 'lacks what a manifest says'],
    ...Object.keys(part).map((name): [string, object, string] => [
      `with a second part without its ${name}`,
      { parts: [part, { ...part, [name]: null }] },
      'lacks what it says of part 2',
    ]),
    ['with a part that is none', { parts: [null, part] }, 'lacks what it says of part 1'],
    [
      'with a head that is none',
      { signed_head: {} },
      'names a signed head or a key that is none: size must be a positive integer',
    ],
    [
      'without a head',
      { signed_head: undefined },
      'names a signed head or a key that is none: size must be a positive integer',
    ],
    ['without keys', { signing_keys: undefined }, 'names signing keys that are none'],
    ['with keys that are no list', { signing_keys: {} }, 'names signing keys that are none'],
    [
      'with a key that is none',
      { signing_keys: [key, {}] },
      'names a signed head or a key that is none: a member is missing',
    ],
  ])('is refused %s', (_what, over, why) => {
    expect(read(over)).toBe(why);
  });

  it('is refused if it is not JSON or has another format', () => {
    expect(readManifest('{')).toBe('is no JSON');
    for (const none of ['null', '7', '"x"', '{}'])
      expect(readManifest(none)).toBe('is not of the format disburse-export.v2');
  });
});
