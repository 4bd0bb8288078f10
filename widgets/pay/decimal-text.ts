import { asciiDigits, tidy } from '../../src/kernel/typed-text.js';

/** Amounts in the number format of a language. Digits are only copied, never converted to floating point. */

export type Reading =
  | { readonly amount: string }
  /** The two amounts that the text may mean, the smaller one first. */
  | { readonly ambiguous: readonly [string, string] };

type Mark = '.' | ',';
const MAX_DIGITS = 30;

/**
 * Reads a typed amount as a canonical decimal; null if the text is no amount. Decimals may follow a point or
 * a comma, and digits may be grouped, if only one amount is possible. `1,234` is 1234 in a language that
 * groups digits by commas, and ambiguous elsewhere.
 */
export function readAmount(text: string, locale: string): Reading | null {
  const own = decimalMark(locale);
  // The Arabic marks of decimals and of groups.
  const plain = asciiDigits(tidy(text).replaceAll('\u066b', own).replaceAll('\u066c', "'"))
    .replace(/[\u00a0\u2009\u202f]/g, ' ')
    .replaceAll('\u2019', "'");
  const other = own === '.' ? ',' : '.';
  const [mine, theirs] = [readWith(own, plain), readWith(other, plain)];
  const amount = mine ?? theirs;
  if (amount === null) return null;
  // One mark before exactly three digits may group digits or begin the decimals.
  const isAmbiguous = mine !== null && theirs !== null && mine !== theirs && plain.includes(own);
  return isAmbiguous ? { ambiguous: [mine, theirs] } : { amount };
}

/** Formats the whole amount so that {@link readAmount} reads the same amount. */
export function amountText(amount: string, locale: string): string {
  const [whole = '0', digits = ''] = amount.split('.');
  const grouped = new Intl.NumberFormat(locale).format(BigInt(whole));
  const fraction = digits.replace(/0+$/, '');
  if (fraction === '') return grouped;
  // `1.125` could be a group: with one more digit it cannot.
  const mayBeGroup = fraction.length === 3 && /^[1-9][0-9]{0,2}$/.test(whole);
  return `${grouped}${decimalMark(locale)}${fraction}${mayBeGroup ? '0' : ''}`;
}

/** Formats an amount with up to four decimals after leading zeros, never rounded up. */
export function shortAmount(amount: string, locale: string): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  // Four significant digits, and as many zeros as are before them.
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  return amountText(`${whole}.${fraction.slice(0, zeros + 4)}`, locale);
}

/** Returns the number of digits after the point of a canonical decimal. */
export function decimalsIn(amount: string): number {
  return (amount.split('.')[1] ?? '').length;
}

export function isPositive(amount: string): boolean {
  return /[1-9]/.test(amount);
}

/** Converts an amount to the smallest unit of a token with so many decimals. */
export function minorUnits(amount: string, decimals: number): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0')).toString();
}

function readWith(mark: Mark, text: string): string | null {
  const group = mark === '.' ? ',' : '.';
  const form = new RegExp(`^([1-9]\\d{0,2}([${group} '])\\d{3}(?:\\2\\d{3})*|\\d*)(?:\\${mark}(\\d*))?$`);
  const [, whole = '', , fraction = ''] = form.exec(text) ?? [];
  if (whole + fraction === '' || Math.max(whole.length, fraction.length) > MAX_DIGITS) return null;
  const digits = whole.replace(/\D/g, '').replace(/^0+(?=\d)/, '') || '0';
  const decimals = fraction.replace(/0+$/, '');
  return decimals === '' ? digits : `${digits}.${decimals}`;
}

function decimalMark(locale: string): Mark {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5);
  return parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.';
}
