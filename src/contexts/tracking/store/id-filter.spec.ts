import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { hashId, IdFilter, merchantSeed, type IdHash } from './id-filter.js';

const KEYS = 20_000;

const ids = (): string[] => Array.from({ length: KEYS }, () => randomUUID());
const hashes = (of: readonly string[], seed: number): IdHash[] => of.map((id) => hashId(id, seed));

describe('a filter of ids', () => {
  const seed = merchantSeed(randomUUID());
  const added = ids();
  const filter = IdFilter.for(KEYS);
  for (const hash of hashes(added, seed)) filter.add(hash);

  it('knows all that were added, and of the others fewer than one in three hundred', () => {
    expect(hashes(added, seed).every((hash) => filter.mayHold(hash))).toBe(true);
    const taken = hashes(ids(), seed).filter((hash) => filter.mayHold(hash)).length;
    expect(taken).toBeLessThan(KEYS / 300);
  });

  it('tells merchants apart', () => {
    const other = merchantSeed(randomUUID());
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

  it('finds the bits again that an earlier version has set', () => {
    const hash = hashId(
      '4f9c7a2e-1b2c-4d3e-8456-7890abcdef12',
      merchantSeed('018f4e0c-1111-7abc-8def-000000000001'),
    );
    const filter = IdFilter.for(1000);
    filter.add(hash);
    const bits = [...filter.parts(1 << 20)][0]!.toString('base64').replace(/(A{8})+/g, '*');
    expect(bits).toBe('*AAAAAAAg*AAAAABQ*AAACAAg*AAAE*AAAAAAC*AAAAAAB*AAA=');
  });
});
