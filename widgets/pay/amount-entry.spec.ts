import { describe, expect, it } from '@jest/globals';
import en from '../../src/contexts/exchange/words/en.json' with { type: 'json' };
import { formatIn } from '../format.js';
import { AmountEntry } from './amount-entry.js';

const [english, german] = ['en', 'de'].map((locale) => new AmountEntry(formatIn(en), locale));

describe('the amount that is entered on the pay page', () => {
  it('is read as the decimal amount of the quote, in the format of the language', () => {
    expect(english!.read(' 1,250.50 ', 2)).toEqual({ amount: '1250.5' });
    expect(german!.read('1.250,50', 2)).toEqual({ amount: '1250.5' });
    expect(english!.read('1.123456', 6)).toEqual({ amount: '1.123456' });
  });

  it('is missing without a message while the field is empty', () => {
    expect(english!.read('', 2)).toBeNull();
    expect(english!.read('  ', 2)).toBeNull();
  });

  it.each([
    [english!, 'one', 'Enter an amount, such as 1,250.5.'],
    [german!, 'ein', 'Enter an amount, such as 1.250,5.'],
    [english!, ' 1.125 ', '“1.125” can mean two amounts. Enter 1.1250 or 1125.'],
    [german!, '1,000', '“1,000” can mean two amounts. Enter 1 or 1000.'],
    [english!, '1.1234567', 'Enter at most 6 decimal places.'],
  ])('is refused with a message that says what is expected: %#', (entry, text, wrong) => {
    expect(entry.read(text, 6)).toEqual({ wrong });
  });
});

describe('the message about an amount that the server refuses', () => {
  const limits = { minimum: '10.123456', maximum: '1000' };

  it('names the limits in the language of the page', () => {
    expect(english!.limits(limits)).toEqual({ minimum: '10.1234', maximum: '1,000' });
    expect(german!.refused({ parameter: 'amount_from' }, limits, 'USDC')).toBe(
      'You can send from 10,1234 to 1.000 USDC.',
    );
  });

  it.each([
    ['another parameter is wrong', { parameter: 'pair_id' }, limits],
    ['no parameter is named', { parameter: null }, limits],
    ['the limits are not known', { parameter: 'amount_from' }, null],
  ])('says that the amount cannot be exchanged if %s', (_what, refusal, known) => {
    expect(english!.refused(refusal, known, 'USDC')).toBe(
      'This amount cannot be exchanged. Try another one.',
    );
  });
});
