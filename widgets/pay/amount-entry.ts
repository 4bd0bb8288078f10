import type { PayQuote, Refusal } from './api.js';
import { amountText, decimalsIn, readAmount, shortAmount } from './decimal-text.js';
import type { Format } from './page.js';

export type Limits = Pick<PayQuote, 'minimum' | 'maximum'>;

/** The amount for a quote, or the message about a wrong text. Null if nothing was entered. */
export type Entry = { readonly amount: string } | { readonly wrong: string } | null;

/** Reads amounts and describes their faults in the language of the page. */
export class AmountEntry {
  constructor(
    private readonly format: Format,
    private readonly locale: string,
  ) {}

  read(text: string, decimals: number): Entry {
    const { format, locale } = this;
    if (text.trim() === '') return null;
    const reading = readAmount(text, locale);
    if (reading === null)
      return { wrong: format('amountMissing', { example: amountText('1250.5', locale) }) };
    if ('ambiguous' in reading) {
      const [less, more] = reading.ambiguous;
      // A number without groups has no mark that could be decimal.
      const values = { text: text.trim(), less: amountText(less, locale), more };
      return { wrong: format('amountAmbiguous', values) };
    }
    return decimalsIn(reading.amount) > decimals
      ? { wrong: format('amountDecimals', { decimals }) }
      : reading;
  }

  limits({ minimum, maximum }: Limits): { readonly minimum: string; readonly maximum: string } {
    return { minimum: shortAmount(minimum, this.locale), maximum: shortAmount(maximum, this.locale) };
  }

  /** Describes a quote or order that was refused with 422. `limits` is null if the pair's are unknown. */
  refused({ parameter }: Pick<Refusal, 'parameter'>, limits: Limits | null, symbol: string): string {
    return limits === null || parameter?.startsWith('amount') !== true
      ? this.format('amountRefused')
      : this.format('amountOutside', { ...this.limits(limits), symbol });
  }
}
