import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalAmount, fromMinorUnits, isAmount, toMinorUnits } from './money.js';

describe('amounts', () => {
  it.each(['0', '1', '10000', '0.000001', '12.50', '007.5', '9'.repeat(30)])('are read from %s', (text) => {
    expect(isAmount(text)).toBe(true);
  });

  it.each(['', '.5', '5.', '1e3', '-1', '+1', '1.0000001', ' 1', '1,5', '١', 1, null, ['1']])(
    'are not read from %p',
    (value) => {
      expect(isAmount(value)).toBe(false);
    },
  );

  it('are exact in minor units where doubles are not', () => {
    expect(toMinorUnits('0.1') + toMinorUnits('0.2')).toBe(toMinorUnits('0.3'));
    expect(toMinorUnits('9007199254740993.000001')).toBe(9007199254740993000001n);
    expect(fromMinorUnits(9007199254740993000001n)).toBe('9007199254740993.000001');
  });

  it('retain their decimals and lose leading zeros', () => {
    expect(canonicalAmount('007.50')).toBe('7.50');
    expect(canonicalAmount('0.50')).toBe('0.50');
    expect(canonicalAmount('000')).toBe('0');
  });

  it('are formatted from minor units as the shortest text of the same value', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (minor) => {
        const text = fromMinorUnits(minor);
        expect(isAmount(text)).toBe(true);
        expect(toMinorUnits(text)).toBe(minor);
        expect(text).not.toMatch(/\.\d*0$/);
      }),
    );
  });

  it('have the same value with and without leading zeros', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{1,12}(\.[0-9]{1,6})?$/), (text) => {
        expect(toMinorUnits(canonicalAmount(text))).toBe(toMinorUnits(text));
      }),
    );
  });

  it('that are invalid throw a RangeError', () => {
    expect(() => toMinorUnits('1e3')).toThrow(RangeError);
    expect(() => canonicalAmount('x')).toThrow(RangeError);
  });
});
