import { START, type ResolvedEvent } from '@eventstore/db-client';
import { describe, expect, it } from '@jest/globals';
import { Positions } from './positions.js';

/** Marks after copied events up to these positions, at these positions of the server. */
function marked(...marks: readonly (readonly [position: string, commit: bigint])[]): Positions {
  const stored = marks.map(([position, commit]) => ({
    event: { data: { position }, position: { commit, prepare: commit } },
  }));
  return new Positions(stored as unknown as readonly ResolvedEvent[]);
}
const at = (commit: bigint): object => ({ commit, prepare: commit });

describe('the positions of a log with copied events', () => {
  it('are the positions of the server if no event was copied', () => {
    const positions = marked();
    expect(positions.shift).toBe(0n);
    expect(positions.startAfter(null)).toBe(START);
    expect(positions.startAfter('4711')).toEqual(at(4711n));
  });

  it('let a read start at the last mark that is not after the requested position', () => {
    const positions = marked(['500', 90_000n], ['1000', 180_000n]);
    expect(positions.startAfter('3')).toBe(START);
    expect(positions.startAfter('500')).toEqual(at(90_000n));
    expect(positions.startAfter('999')).toEqual(at(90_000n));
    expect(positions.startAfter('1000')).toEqual(at(180_000n));
  });

  it('are the server positions after the copy, if these are higher than the copied positions', () => {
    const positions = marked(['1000', 180_000n]);
    expect(positions.shift).toBe(0n);
    expect(positions.startAfter('180500')).toEqual(at(180_500n));
  });

  it('are the server positions plus an offset after the copy, if the copied positions are higher', () => {
    const positions = marked(['5000000', 180_000n]);
    expect(positions.shift).toBe(4_820_000n);
    expect(positions.startAfter('5000000')).toEqual(at(180_000n));
    expect(positions.startAfter(String(180_500n + positions.shift))).toEqual(at(180_500n));
  });
});
