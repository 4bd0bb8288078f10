import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { hashOfHead, headText, keyText, readHead, readKey } from './signed-head.js';

const HEAD = {
  log_id: 'l',
  size: 7,
  root: 'ab',
  position: '9',
  signed_at: 'then',
  key_id: 'k',
  previous: 'cd',
  signature: 'ef',
};
const KEY = { key_id: 'k', public_key: 'p', made_at: 'then', former_key_id: 'f', signature: 'ef' };
const withoutEach = (value: object): object[] =>
  Object.keys(value).map((name) => ({ ...value, [name]: undefined }));

describe('a signed head', () => {
  it('has exactly one signed text, whose hash is part of the next head', () => {
    const text =
      '{"key_id":"k","kind":"disburse.head.v1","log_id":"l","position":"9","previous":"cd","root":"ab","signed_at":"then","size":7}';
    expect(headText(HEAD)).toBe(text);
    expect(hashOfHead(HEAD)).toBe(createHash('sha256').update(`${text}\nef`).digest('hex'));
  });

  it('is read without its unknown members; the previous head is optional', () => {
    expect(readHead({ ...HEAD, more: 1 })).toEqual(HEAD);
    expect(readHead({ ...HEAD, previous: null, size: 1 })).toMatchObject({ previous: null, size: 1 });
  });

  it.each([
    ...[null, undefined, {}, { ...HEAD, previous: 7 }],
    ...[0, 1.5, '7'].map((size) => ({ ...HEAD, size })),
    ...withoutEach(HEAD),
  ])('cannot be read from %j', (value) => {
    expect(() => readHead(value)).toThrow(TypeError);
  });
});

describe('a signing key', () => {
  it('is signed over the canonical JSON of its kind and members, without the signature', () => {
    expect(keyText(KEY)).toBe(
      '{"former_key_id":"f","key_id":"k","kind":"disburse.key.v1","made_at":"then","public_key":"p"}',
    );
  });

  it('is read without its unknown members; the former key is optional', () => {
    expect(readKey({ ...KEY, more: 1 })).toEqual(KEY);
    const first = { ...KEY, former_key_id: null, signature: null };
    expect(readKey(first)).toEqual(first);
  });

  it.each([null, undefined, ...withoutEach(KEY)])('cannot be read from %j', (value) => {
    expect(() => readKey(value)).toThrow(TypeError);
  });
});
