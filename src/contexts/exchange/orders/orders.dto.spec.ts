import { describe, expect, it } from '@jest/globals';
import { Fault } from '../../../kernel/fault.js';
import { datePoint, type DatePoint } from '../../../platform/dto/date-point.js';
import { fiatAmount, fiatCurrency, roundedFiat } from '../tokens/configuration.controller.js';
import { code } from './orders.dto.js';

const read = (rule: typeof fiatAmount, value: string): unknown => rule.read(value);
const faultOf = (rule: typeof fiatAmount, value: string): string | null => {
  const result = read(rule, value);
  return result instanceof Fault ? result.message : null;
};

describe('a date filter of the list of orders', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
    ['2026-01-31T12:30', '2026-01-31T12:30:00.000Z', '2026-01-31T12:30:00.001Z'],
    ['2026-01-31T12:30:15.25', '2026-01-31T12:30:15.250Z', '2026-01-31T12:30:15.251Z'],
    ['2026-01-31T12:30-05:00', '2026-01-31T17:30:00.000Z', '2026-01-31T17:30:00.001Z'],
    ['2026-01-31T12:30:00+02:00', '2026-01-31T10:30:00.000Z', '2026-01-31T10:30:00.001Z'],
    ['2026-01-31 12:30:00+02:00', '2026-01-31T10:30:00.000Z', '2026-01-31T10:30:00.001Z'],
    ['20260131T123000,5+0200', '2026-01-31T10:30:00.500Z', '2026-01-31T10:30:00.501Z'],
    ['2026-01-31T24:00', '2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00.001Z'],
    ['\u200e2026-01-31\u200e', '2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
    // A query encodes a blank as +.
    ['2026-01-31 12:30:00 02:00', '2026-01-31T10:30:00.000Z', '2026-01-31T10:30:00.001Z'],
    ['20260131T1230 02', '2026-01-31T10:30:00.000Z', '2026-01-31T10:30:00.001Z'],
  ])('can be %s, which means %s', (text, at, end) => {
    const point = read(datePoint, text) as DatePoint;
    expect([point.at.toISOString(), point.end.toISOString()]).toEqual([at, end]);
  });

  it.each([
    '2026-02-30',
    '0000-01-01',
    '9999-12-31',
    '2026-01-01T24:00:01',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+24:00',
    '12026-01-01T00:00:00Z',
    '20260131',
    '2026-01-01T12:30 2:00',
    '',
  ])('cannot be %j, and the error quotes the text', (text) =>
    expect(faultOf(datePoint, text)).toContain(`not ${JSON.stringify(text)}`),
  );
});

describe('the amount of an on-ramp purchase', () => {
  it.each([
    ['150.00', 'EUR', '150.00'],
    ['١٥٠٫٥', 'EUR', '150.5'],
    ['1e2', 'EUR', '100'],
    ['1e 2', 'EUR', '100'],
    ['15000e-2', 'EUR', '150'],
    ['50.005', 'EUR', '50.01'],
    ['50.0049', 'EUR', '50'],
    ['50.5', 'JPY', '51'],
    ['50.1235', 'KWD', '50.124'],
    ['50.125', undefined, '50.13'],
    ['1000000', 'EUR', '1000000'],
  ])('%s in %s is rounded to %s', (text, currency, amount) => {
    expect(roundedFiat(read(fiatAmount, text) as string, currency)).toBe(amount);
  });

  it.each(['-5', '0', '0e5', '1000000.01', '1e7', '1e31', '1e-31', '.5', '1,5', 'NaN', ''])(
    'cannot be %j',
    (text) => expect(faultOf(fiatAmount, text)).toMatch(/^must be a number, more than 0/),
  );
  it('has a limited number of digits', () =>
    expect(faultOf(fiatAmount, `1.${'0'.repeat(10_000)}`)).not.toBeNull());
});

describe('codes of tokens, chains and pairs', () => {
  const pairs = code(['USDCSOL', 'BTCSOL']);

  it('are accepted in any letter case and returned as they are listed', () => {
    expect(read(pairs, 'usdcSol')).toBe('USDCSOL');
    expect(read(fiatCurrency, 'eur')).toBe('EUR');
  });

  it('that are unknown are quoted in the error, truncated and escaped, after the known codes', () => {
    expect(faultOf(pairs, 'DOGESOL')).toBe('must be one of USDCSOL, BTCSOL, not "DOGESOL"');
    expect(faultOf(pairs, 'a"\n<b>')).toBe('must be one of USDCSOL, BTCSOL, not "a\\"\\n<b>"');
    expect(faultOf(pairs, 'x'.repeat(10_000))).toBe(
      `must be one of USDCSOL, BTCSOL, not "${'x'.repeat(40)}..."`,
    );
    expect(faultOf(fiatCurrency, 'zzz')).toContain('not "zzz"');
    expect(faultOf(pairs, 'constructor')).not.toBeNull();
  });
});
