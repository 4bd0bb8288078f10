import { createRequire } from 'node:module';
import { parsePhoneNumberFromString, type MetadataJson } from 'libphonenumber-js/core';
import { Fault } from '../../../kernel/fault.js';
import { asciiDigits, tidy } from '../../../kernel/typed-text.js';

/** Calling codes and lengths of numbers, without tables for formatting. */
const METADATA = createRequire(import.meta.url)('libphonenumber-js/metadata.min.json') as MetadataJson;

const E164 = /^\+[1-9][0-9]{6,14}$/;

/** A numbering plan in which one subscriber has, or had, two numbers; `head` and `rest` are regular expressions. */
interface Plan {
  readonly head: string;
  /** The digits between head and rest: those of the number in use, and those of the other one. */
  readonly digits: readonly [string, string];
  readonly rest: string;
  /** Both are valid: the number is stored as it was sent. */
  readonly bothInUse?: true;
}

const PLANS: readonly Plan[] = [
  // Mexico: mobiles lost the 1 on 3 August 2019 (IFT, DOF of 11 May 2018; ITU Operational Bulletin 1151).
  { head: '\\+52', digits: ['', '1'], rest: '[2-9]\\d{9}' },
  // Argentina: calls from abroad need the 9 of a mobile, SMS do without it (ITU T0202000009; FAQ of libphonenumber).
  { head: '\\+54', digits: ['9', ''], rest: '[1-3]\\d{9}', bothInUse: true },
  // Brazil: mobiles got a ninth digit from 2012 to 2016 (Anatel, Resolution 553/2010), radios (70, 77 to 79) did not.
  { head: '\\+55[1-9]\\d', digits: ['9', ''], rest: '(?:[689]\\d|7[1-6])\\d{6}' },
  // Ivory Coast: the operator, formerly the second digit of a mobile (libphonenumber issue 1909; 80 and 90 are none),
  // precedes ten digits since 31 January 2021 (ARTCI; ITU T0202000031).
  { head: '\\+225', digits: ['01', ''], rest: '(?![89]0)[04-9][0-3]\\d{6}' },
  { head: '\\+225', digits: ['05', ''], rest: '[04-9][4-6]\\d{6}' },
  { head: '\\+225', digits: ['07', ''], rest: '[04-9][7-9]\\d{6}' },
  // Benin: 01 precedes every number since 30 November 2024 (ARCEP; ITU T0202000017).
  { head: '\\+229', digits: ['01', ''], rest: '[2-9]\\d{7}' },
];
const FORMS = PLANS.map(
  ({ head, digits, rest }) => new RegExp(`^(${head})(?:${digits.join('|')})(${rest})$`),
);

/** The numbers of one subscriber in E.164: the one in use and the other, or in most countries the one. */
export function subscriberNumbers(number: string): readonly [string, ...string[]] {
  const place = FORMS.findIndex((form) => form.test(number));
  if (place === -1) return [number];
  const [, head, rest] = FORMS[place]!.exec(number)!;
  const [inUse, other] = PLANS[place]!.digits;
  return [`${head}${inUse}${rest}`, `${head}${other}${rest}`];
}

export function isSameSubscriber(one: string, other: string): boolean {
  return subscriberNumbers(one)[0] === subscriberNumbers(other)[0];
}

function parse(text: string) {
  return parsePhoneNumberFromString(text, { extract: false }, METADATA);
}

/**
 * E.164 of a plausible number: a plus, an existing calling code and 7 to 15 digits, without separators. A spelling that is
 * no longer in use becomes the one that is.
 */
export function parsePhoneNumber(sent: string): string | Fault {
  const text = asciiDigits(tidy(sent)).replace(/^\uff0b/, '+');
  if (text === '') return new Fault('is required');
  if (!text.startsWith('+')) return new Fault('must be in E.164 form, beginning with + and the country code');
  const { number = '', ext } = parse(text) ?? {};
  if (!E164.test(number) || ext !== undefined) return new Fault('is not a plausible E.164 phone number');
  const isKept = PLANS.some(({ bothInUse }, place) => bothInUse && FORMS[place]!.test(number));
  return isKept ? number : subscriberNumbers(number)[0];
}

/** Reads as {@link parsePhoneNumber}, and checks the length; users from before this check are found without it. */
export function readPhoneNumber(sent: string): string | Fault {
  const number = parsePhoneNumber(sent);
  if (number instanceof Fault || parse(number)?.isPossible() === true) return number;
  return new Fault('is not a possible phone number: its country has none of this length');
}
