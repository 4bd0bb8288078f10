import { describe, expect, it } from '@jest/globals';
import { clock, readAmount, refundableWords, shortAmount, spokenMilestone } from './words.js';

describe('amounts as people read them', () => {
  it.each([
    ['100', '100'],
    ['1234567.5', '1\u202f234\u202f567.5'],
    ['0.006512345', '0.006512'],
    ['0.000000009', '0.000000009'],
    ['12.99999', '12.9999'],
    ['1.10000', '1.1'],
    ['5.0000001', '5'],
    ['0', '0'],
  ])('%s is %s', (amount, short) => expect(shortAmount(amount)).toBe(short));
});

describe('amounts as people type them', () => {
  it.each([
    ['100', '100'],
    [' 1,5 ', '1.5'],
    ['.5', '0.5'],
    ['7.', '7'],
    ['007.50', '7.50'],
    ['', null],
    ['1e9', null],
    ['-5', null],
    ['1 000', null],
    ['1.2.3', null],
    ['1,234.5', null],
    ['٣', null],
    ['9'.repeat(31), null],
  ])('%j is %j', (text, amount) => expect(readAmount(text)).toBe(amount));
});

describe('a countdown', () => {
  it.each([
    [0, '0:00'],
    [-5, '0:00'],
    [1, '0:01'],
    [65_000, '1:05'],
    [3_600_000, '1:00:00'],
    [86_400_000, '24:00:00'],
  ])('%d ms is %s', (ms, text) => expect(clock(ms)).toBe(text));

  it('is spoken now and then', () => {
    const spoken = Array.from({ length: 3600 }, (_, seconds) => spokenMilestone(seconds * 1000)).filter(
      (each) => each !== null,
    );
    expect(spoken).toEqual(['1 minute left', '5 minutes left', '10 minutes left', '30 minutes left']);
  });
});

describe('what has to be sent back', () => {
  const words = (amount_refundable: string, ...late: string[]): string | null =>
    refundableWords({ amount_refundable, late_deposits: late.map((amount) => ({ amount })) }, 'USDC');

  it('is told once: late deposits are part of it', () => {
    const total = '9 USDC of what you sent are not exchanged and have to be sent back.';
    expect(words('9')).toBe(total);
    expect(words('9', '4', '5')).toBe(`${total} Arrived too late: 4 USDC, 5 USDC.`);
  });
  it('is nothing once it was given back', () => expect(words('0', '9')).toBeNull());
});
