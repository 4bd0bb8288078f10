import { describe, expect, it } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import { exchanged, isDecimal, needed } from './decimal.js';

const amount = fc
  .bigInt({ min: 1n, max: 10n ** 15n })
  .map((minor) => new Big(minor.toString()).div(1e6).toFixed());

describe('the conversion of an amount at a rate', () => {
  it('requires the smallest amount that converts to the target or more', () => {
    expect(needed('100', '3', 6)).toBe('33.333334');
    expect(needed('1', '8', 3)).toBe('0.125');
    fc.assert(
      fc.property(amount, amount, (target, rate) => {
        const from = new Big(needed(target, rate, 6));
        expect(from.times(rate).gte(target) || from.eq(new Big(target).div(rate))).toBe(true);
        expect(from.minus('0.000001').times(rate).lt(target)).toBe(true);
      }),
    );
  });

  it('pays out the exact product, rounded down to the decimals', () => {
    expect(exchanged('10', '0.6666666', 6)).toBe('6.666666');
    fc.assert(
      fc.property(amount, amount, (from, rate) => {
        const to = new Big(exchanged(from, rate, 6));
        const exact = new Big(from).times(rate);
        expect(to.lte(exact) && to.plus('0.000001').gt(exact)).toBe(true);
      }),
    );
  });
});

describe('a decimal', () => {
  it.each(['0', '12', '12.50', '0.000001'])('can be %s', (text) => expect(isDecimal(text, 6)).toBe(true));
  it.each(['', '01', '1.', '.5', '-1', '+1', '1e3', '1,5', '0.0000001', ' 1', '1'.repeat(61), 1])(
    'cannot be %j',
    (value) => expect(isDecimal(value, 6)).toBe(false),
  );
});
