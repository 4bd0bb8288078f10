import Big from 'big.js';
import { Fault } from '../../../kernel/fault.js';
import { isAtLeast, isZero } from '../../../kernel/decimal.js';
import { asciiDigits } from '../../../kernel/typed-text.js';
import type { Rule } from '../../../platform/dto/field.js';
import { quoted } from '../../../platform/dto/date-point.js';
import { text } from '../../../platform/dto/rules.js';
import { readAddress, readTag } from '../domain/addresses.js';
import { PAID_OUT } from '../domain/catalog.js';

/** A text that a caller chooses: 1 to 255 code points once trimmed, no control characters (contract.md 22.2). */
export const nonEmpty: Rule = text({ minLength: 1, maxLength: 255 }, (value) =>
  value.trim() === '' ? new Fault('must not be empty') : readTag(value.trim()),
);

/** A tag or a memo; an empty one is none. */
export const tagOrMemo: Rule = text({ maxLength: 255 }, (value) =>
  value === '' ? undefined : readTag(value),
);

/** Nothing is paid out on any other chain (contract.md 25.2). */
export const withdrawAddress: Rule = text(
  { examples: ['4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'] },
  (value) => readAddress(PAID_OUT.chain, value),
);

/** The signature of operations with a key that demands it. The edge or the command checks it. */
export const signature = text({
  pattern: '^[0-9a-f]{64}$',
  description: 'Required when the key demands signatures; see above.',
});

/** The signature over all other parameters of the query (contract.md 21.8), which the edge has checked. */
export const querySignature = text({
  pattern: '^[0-9a-f]{64}$',
  description: 'Over the whole query. Keys issued for it require it with a tag or memo.',
});

/** The address to which pages lead back. The mode decides which ones are allowed. */
export const returnUrl: Rule = text({ format: 'uri', maxLength: 2048 }, (value) =>
  value === '' ? undefined : value,
);

/** The tokens that can be paid out. There is only one chain, so that parameters may omit it. */
export const TOKENS_TO = [PAID_OUT.token];
export const CHAIN_TO = PAID_OUT.chain;
export const CHAINS_TO = [CHAIN_TO];

const MAX_FIAT = '1000000';

/** One of some codes, in any letter case; reads the code as it is listed. */
export function code(codes: readonly string[]): Rule {
  const known = new Map(codes.map((each) => [each.toLowerCase(), each]));
  return text({ enum: [...codes] }, (value) => {
    const found = known.get(value.toLowerCase());
    return found ?? new Fault(`must be one of ${codes.join(', ')}, not ${quoted(value)}`);
  });
}

/** ISO 4217: currencies in use that people pay with; funds, metals and test codes are left out. */
const FIAT_CURRENCIES: ReadonlySet<string> = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
   CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD
   IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR
   MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
   SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF
   XPF YER ZAR ZMW ZWG`.split(/\s+/),
);
/** Digits after the point of a currency, by ISO 4217, where they are not two. */
const MINOR_DIGITS: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
    .split(' ')
    .map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
]);

const JSON_NUMBER = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e([+-]?[0-9]{1,3}))?$/i;
const MAX_NUMBER = 40;
/** Exponents that an amount can have; others would be written out with as many zeros. */
const MAX_EXPONENT = 30;
const PLAIN = /^[0-9]+(?:\.[0-9]{1,2})?$/;

/** The text of a JSON number; a `+` of its exponent arrives as a blank. Rounded by {@link roundedFiat} once the currency is known. */
export const fiatAmount: Rule = text(
  { pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$', examples: ['150.00'] },
  (value) => {
    const number = asciiDigits(value).replace(/(?<=e) /i, '+');
    const parts = number.length > MAX_NUMBER ? null : JSON_NUMBER.exec(number);
    if (parts === null || Math.abs(Number(parts[1] ?? 0)) > MAX_EXPONENT) return FIAT_FAULT;
    const plain = PLAIN.test(number) ? number : new Big(number).toFixed();
    return isZero(plain) || !isAtLeast(MAX_FIAT, plain) ? FIAT_FAULT : plain;
  },
);

const FIAT_FAULT = new Fault(`must be a number, more than 0 and at most ${MAX_FIAT}`);

export const fiatCurrency: Rule = text({ pattern: '^[A-Z]{3}$', examples: ['EUR'] }, (value) =>
  FIAT_CURRENCIES.has(value.toUpperCase())
    ? value.toUpperCase()
    : new Fault(`must be the ISO 4217 code of a currency, such as EUR, not ${quoted(value)}`),
);

/** Half up to the minor unit of the currency, to hundredths without one; as it is where nothing is to be rounded. */
export function roundedFiat(amount: string, currency: string | undefined): string {
  const decimals = MINOR_DIGITS.get(currency ?? '') ?? 2;
  if ((amount.split('.')[1] ?? '').length <= decimals) return amount;
  return new Big(amount).round(decimals, Big.roundHalfUp).toFixed();
}
