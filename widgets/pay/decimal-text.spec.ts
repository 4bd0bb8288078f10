import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { amountText, minorUnits, readAmount, shortAmount } from './decimal-text.js';

const LOCALES = ['en', 'de', 'es'] as const;
/** Variants of the languages in which a visitor may have copied an amount. */
const VARIANTS = 'en-US en-IE en-ZA de-DE de-AT de-CH es-ES es-MX es-CR fr-FR pt-BR'.split(' ');

const digits = (min: number, max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((each) => each.join(''));
/** Canonical decimals of up to 25 digits and 18 decimals. */
const amounts = fc.tuple(digits(1, 25), digits(0, 18)).map(([whole, fraction]) => {
  const decimals = fraction.replace(/0+$/, '');
  const plain = whole.replace(/^0+(?=\d)/, '');
  return decimals === '' ? plain : `${plain}.${decimals}`;
});
const locales = fc.constantFrom(...LOCALES);
const intl = (amount: string, locale: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 18 }).format(amount as unknown as number);

describe('an amount that somebody types', () => {
  it.each([
    ['en', '5,000', '5000'],
    ['en', '1,000', '1000'],
    ['de', '5.000', '5000'],
    ['es', '5.000', '5000'],
    ['es', '5 000', '5000'],
    ['en', '5 000', '5000'],
    ['es', '5\u202f000', '5000'],
    ['de', '5\u00a0000,5', '5000.5'],
    ['es', '5\u2009000', '5000'],
    ['de', '5\u2019000.5', '5000.5'],
    ['en', '1,234,567.5', '1234567.5'],
    ['de', '1.234.567,5', '1234567.5'],
    ['en', '1.234.567,5', '1234567.5'],
    ['en', '1,5', '1.5'],
    ['en', '٣', '3'],
    ['en', '١٬٢٣٤٫٥', '1234.5'],
    ['de', '１２３，５'.replace('，', ','), '123.5'],
    ['es', '\u200e1,5\u200e', '1.5'],
    ['de', ' 1,5 ', '1.5'],
    ['de', '1.5', '1.5'],
    ['en', '0.125', '0.125'],
    ['en', '1.1250', '1.125'],
    ['de', '0,125', '0.125'],
    ['en', '.5', '0.5'],
    ['en', '7.', '7'],
    ['en', '007.50', '7.5'],
    ['en', '1234,567', '1234.567'],
  ])('on the %s page %j is read as %s', (locale, text, amount) =>
    expect(readAmount(text, locale)).toEqual({ amount }),
  );

  it.each([
    ['de', '1,000', ['1', '1000']],
    ['es', '5,000', ['5', '5000']],
    ['en', '5.000', ['5', '5000']],
    ['en', '1.125', ['1.125', '1125']],
    ['de', '25,500', ['25.5', '25500']],
  ])('on the %s page %j is ambiguous', (locale, text, ambiguous) =>
    expect(readAmount(text, locale)).toEqual({ ambiguous }),
  );

  it.each([
    ...['', '.', ',', '1e9', '-5', '+5', '1.2.3', '1,23,4', '1,00,000', '1 00', '1,234 567', '0x5'],
    '5 000 00',
  ])('%j is no amount in any language', (text) =>
    LOCALES.forEach((locale) => expect(readAmount(text, locale)).toBeNull()),
  );

  it('has at most 30 digits', () => expect(readAmount('9'.repeat(31), 'en')).toBeNull());
});

describe('an amount that the page displays', () => {
  it('is read back as the same amount, in each language and with any number of decimals', () =>
    fc.assert(
      fc.property(amounts, locales, (amount, locale) => {
        expect(readAmount(amountText(amount, locale), locale)).toEqual({ amount });
      }),
      { numRuns: 1000 },
    ));

  it('is never read as another amount on a page in another language', () =>
    fc.assert(
      fc.property(amounts, locales, locales, (amount, displayed, read) => {
        const reading = readAmount(amountText(amount, displayed), read)!;
        if ('amount' in reading) expect(reading).toEqual({ amount });
        else expect(reading.ambiguous).toContain(amount);
      }),
      { numRuns: 1000 },
    ));

  it.each([
    ['100', '100', '100', '100'],
    ['5000', '5,000', '5.000', '5000'],
    ['1234567.5', '1,234,567.5', '1.234.567,5', '1.234.567,5'],
    ['0.006512345', '0.006512', '0,006512', '0,006512'],
    ['0.000000009', '0.000000009', '0,000000009', '0,000000009'],
    ['12.99999', '12.9999', '12,9999', '12,9999'],
    ['1.10000', '1.1', '1,1', '1,1'],
    ['1.125', '1.1250', '1,1250', '1,1250'],
    ['5.0000001', '5', '5', '5'],
    ['0', '0', '0', '0'],
  ])('%s has the short forms %s in en, %s in de and %s in es', (amount, ...texts) =>
    expect(LOCALES.map((locale) => shortAmount(amount, locale))).toEqual(texts),
  );
});

describe('an amount that another program formatted', () => {
  it('is read as that amount or is ambiguous, unless the page writes another amount the same way', () =>
    fc.assert(
      fc.property(amounts, locales, fc.constantFrom(...VARIANTS), (amount, locale, variant) => {
        const text = intl(amount, variant);
        const reading = readAmount(text, locale);
        if (reading === null || 'ambiguous' in reading || reading.amount === amount) return;
        // A group of the page's language: `1,125` of somebody who writes decimals after a comma.
        expect(text).toMatch(locale === 'en' ? /^[1-9]\d{0,2},\d{3}$/ : /^[1-9]\d{0,2}\.\d{3}$/);
        expect(reading.amount).toBe(text.replace(/\D/g, ''));
      }),
      { numRuns: 1000 },
    ));

  it('is read as that amount or is ambiguous on a page in the same language', () =>
    fc.assert(
      fc.property(amounts, locales, (amount, locale) => {
        const text = intl(amount, locale);
        const reading = readAmount(text, locale);
        const isAmbiguous = /^[1-9]\d{0,2}[.,]\d{3}$/.test(text) && amount.includes('.');
        if (isAmbiguous) expect(reading).toHaveProperty('ambiguous');
        else expect(reading).toEqual({ amount });
      }),
      { numRuns: 1000 },
    ));
});

describe('an ambiguous text', () => {
  it('has three digits after the decimal mark of the language, not after its group mark', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999 }), digits(3, 3), locales, (whole, three, locale) => {
        const [own, group] = locale === 'en' ? ['.', ','] : [',', '.'];
        expect(readAmount(`${whole}${own}${three}`, locale)).toHaveProperty('ambiguous');
        expect(readAmount(`${whole}${group}${three}`, locale)).toEqual({ amount: `${whole}${three}` });
      }),
    ));

  it('is refused, so that an accepted text has one meaning or has the groups of the page language', () => {
    const characters = fc.constantFrom(...'0123456789.,, \u202f');
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 12 }), locales, (typed, locale) => {
        const text = typed.join('');
        const meanings = new Set(
          LOCALES.flatMap((each) => {
            const reading = readAmount(text, each);
            return reading === null ? [] : 'amount' in reading ? [reading.amount] : reading.ambiguous;
          }),
        );
        const reading = readAmount(text, locale);
        if (reading !== null && 'amount' in reading && meanings.size > 1)
          expect(text.trim()).toMatch(locale === 'en' ? /^[1-9]\d{0,2},\d{3}$/ : /^[1-9]\d{0,2}\.\d{3}$/);
      }),
      { numRuns: 2000 },
    );
  });
});

it.each([
  ['5000', 6, '5000000000'],
  ['0.000001', 6, '1'],
  ['1.5', 18, '1500000000000000000'],
  ['7', 0, '7'],
])('the amount %s of a token with %d decimals is %s in the smallest unit', (amount, decimals, units) =>
  expect(minorUnits(amount, decimals)).toBe(units),
);
