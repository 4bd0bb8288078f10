import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { hashId, IdFilter, merchantSeed, type IdHash } from './id-filter.js';

const KEYS = 20_000;

function hashes(ids: Buffer, seed: number): IdHash[] {
  return Array.from({ length: ids.length / 16 }, (_, index) => hashId(ids, index * 16, seed));
}

describe('a filter of ids', () => {
  const seed = merchantSeed(randomBytes(16), 0);
  const added = randomBytes(KEYS * 16);
  const filter = IdFilter.for(KEYS);
  for (const hash of hashes(added, seed)) filter.add(hash);

  it('knows all that were added, and of the others fewer than one in three hundred', () => {
    expect(hashes(added, seed).every((hash) => filter.mayHold(hash))).toBe(true);
    const taken = hashes(randomBytes(KEYS * 16), seed).filter((hash) => filter.mayHold(hash)).length;
    expect(taken).toBeLessThan(KEYS / 300);
  });

  it('tells merchants apart', () => {
    const other = merchantSeed(randomBytes(16), 0);
    const taken = hashes(added, other).filter((hash) => filter.mayHold(hash)).length;
    expect(taken).toBeLessThan(KEYS / 300);
  });

  it('comes back from its parts, whatever their size', () => {
    for (const most of [64, 4096, 1 << 22]) {
      const again = IdFilter.of([...filter.parts(most)].map((part) => Uint8Array.from(part)));
      expect(hashes(added, seed).every((hash) => again.mayHold(hash))).toBe(true);
      expect([...again.parts(1 << 30)][0]!.equals([...filter.parts(1 << 30)][0]!)).toBe(true);
    }
    expect(IdFilter.bytesFor(KEYS)).toBe([...filter.parts(1 << 30)][0]!.length);
  });

  it('of nothing knows nothing', () => {
    expect(hashes(added, seed).some((hash) => IdFilter.for(0).mayHold(hash))).toBe(false);
    expect(hashes(added, seed).some((hash) => IdFilter.of([]).mayHold(hash))).toBe(false);
  });
});
