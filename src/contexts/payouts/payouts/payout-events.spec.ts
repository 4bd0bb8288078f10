import { describe, expect, it } from '@jest/globals';
import { comparableHash, isHash } from './payout-events.js';

const DIGITS = 'ab'.repeat(32);

describe('the canonical form of a transaction hash', () => {
  it.each([
    `0x${DIGITS}`,
    `0X${DIGITS}`,
    DIGITS,
    DIGITS.toUpperCase(),
    `0X${DIGITS.toUpperCase()}`,
    ` ${DIGITS}\t`,
    `\u200b0x${DIGITS}\ufeff`,
  ])('is the same for %j', (hash) => {
    expect(comparableHash(hash)).toBe(`0x${DIGITS}`);
    expect(isHash(hash)).toBe(true);
  });

  it.each([
    DIGITS.slice(1),
    `0x${DIGITS}a`,
    `0x${DIGITS.slice(1)}`,
    `x${DIGITS}`,
    `0x0x${DIGITS}`,
    `https://basescan.org/tx/0x${DIGITS}`,
    '[object Object]',
    'undefined',
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4t',
  ])('is the trimmed text for %j, which is no hash', (text) => {
    expect(comparableHash(` ${text} `)).toBe(text);
    expect(isHash(text)).toBe(false);
  });
});
