import { createRequire } from 'node:module';
import { parsePhoneNumberFromString, type MetadataJson } from 'libphonenumber-js/core';
import { Fault } from '../../../kernel/fault.js';
import { asciiDigits, tidy } from '../../../kernel/typed-text.js';
import plans from '../words/phone-plans.json' with { type: 'json' };

/** The calling codes and number lengths, without formatting tables. */
const METADATA = createRequire(import.meta.url)('libphonenumber-js/metadata.min.json') as MetadataJson;

const E164 = /^\+[1-9][0-9]{6,14}$/;

/**
 * The numbering plans in which a number has two spellings: `head`, one of the two `digits`, then `rest`. The
 * first of the `digits` is the current spelling. If `bothInUse` is true, a number is stored as it was sent.
 */
const PLANS = plans.map(({ head, digits, rest, bothInUse = false }) => ({
  form: new RegExp(`^(${head})(?:${digits.join('|')})(${rest})$`),
  digits,
  bothInUse,
}));

/** Returns the spellings of a subscriber's E.164 number, the current one first. */
export function subscriberNumbers(number: string): readonly [string, ...string[]] {
  const plan = PLANS.find(({ form }) => form.test(number));
  if (plan === undefined) return [number];
  const [, head, rest] = plan.form.exec(number)!;
  const [inUse, other] = plan.digits;
  return [`${head}${inUse}${rest}`, `${head}${other}${rest}`];
}

export function isSameSubscriber(one: string, other: string): boolean {
  return subscriberNumbers(one)[0] === subscriberNumbers(other)[0];
}

function parse(text: string) {
  return parsePhoneNumberFromString(text, { extract: false }, METADATA);
}

/** Returns the E.164 number in its current spelling. It needs a known calling code and 7 to 15 digits. */
export function parsePhoneNumber(sent: string): string | Fault {
  const text = asciiDigits(tidy(sent)).replace(/^\uff0b/, '+');
  if (text === '') return new Fault('is required');
  if (!text.startsWith('+')) return new Fault('must be in E.164 form, beginning with + and the country code');
  const { number = '', ext } = parse(text) ?? {};
  if (!E164.test(number) || ext !== undefined) return new Fault('is not a plausible E.164 phone number');
  const isKept = PLANS.some(({ bothInUse, form }) => bothInUse && form.test(number));
  return isKept ? number : subscriberNumbers(number)[0];
}

/** Parses a number and requires a length that its country uses. Older users may have other lengths. */
export function readPhoneNumber(sent: string): string | Fault {
  const number = parsePhoneNumber(sent);
  if (number instanceof Fault || parse(number)?.isPossible() === true) return number;
  return new Fault('is not a possible phone number: its country has no numbers of this length');
}
