import Big from 'big.js';

/** A decimal in whole units of a token, without an exponent. */
const FORM = /^(0|[1-9][0-9]*)(\.[0-9]+)?$/;

export function isDecimal(value: unknown, decimals = 18): value is string {
  if (typeof value !== 'string' || value.length > 60 || !FORM.test(value)) return false;
  return (value.split('.')[1] ?? '').length <= decimals;
}

export function sum(amounts: readonly string[]): string {
  return amounts.reduce((total, amount) => total.plus(amount), new Big(0)).toFixed();
}

export function minus(a: string, b: string): string {
  return new Big(a).minus(b).toFixed();
}

export function times(amount: string, factor: number): string {
  return new Big(amount).times(factor).toFixed();
}

export function isAtLeast(a: string, b: string): boolean {
  return new Big(a).gte(b);
}

export function isZero(amount: string): boolean {
  return new Big(amount).eq(0);
}

export function least(a: string, b: string): string {
  return new Big(a).lt(b) ? a : b;
}

/** Converts `amount` at `rate`, rounded down to `decimals`. */
export function exchanged(amount: string, rate: string, decimals: number): string {
  return new Big(amount).times(rate).round(decimals, Big.roundDown).toFixed();
}

/** Returns the smallest amount whose conversion at `rate` is at least `target`. */
export function needed(target: string, rate: string, decimals: number): string {
  return new Big(target).div(rate).round(decimals, Big.roundUp).toFixed();
}
