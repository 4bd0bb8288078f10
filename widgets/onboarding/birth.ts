import type { Messages } from '../../src/contexts/onboarding/words/messages.js';
import { asciiDigits, tidy } from '../../src/kernel/typed-text.js';

/** A date of birth as it is typed, in three fields. */
export interface TypedBirth {
  readonly day: string;
  readonly month: string;
  readonly year: string;
}
export type BirthPart = keyof TypedBirth;

/** The fault of a date, with the fields that are wrong. */
export interface BirthTrouble {
  readonly trouble: Extract<keyof Messages, `birth${string}`>;
  readonly parts: readonly BirthPart[];
}

const PARTS: readonly BirthPart[] = ['day', 'month', 'year'];

/**
 * Returns the parts of a date in the order of the page's language. The browser's regional form of that
 * language, such as `en-GB`, has priority.
 */
export function partsIn(locale: string, browser: string): readonly BirthPart[] {
  const tag = browser.split('-')[0] === locale ? browser : locale;
  const order = new Intl.DateTimeFormat(tag).formatToParts().map(({ type }) => type);
  return [...PARTS].sort((one, other) => order.indexOf(one) - order.indexOf(other));
}

/** Returns the day as `YYYY-MM-DD`, or its fault. A month is a number or a name in the page's language. */
export function birthOf(given: TypedBirth, locale: string, today: string): string | BirthTrouble {
  const ascii = (text: string): string => asciiDigits(tidy(text));
  const typed = { day: ascii(given.day), month: ascii(given.month), year: ascii(given.year) };
  const missing = PARTS.filter((part) => typed[part] === '');
  if (missing.length > 0)
    return { trouble: missing.length === PARTS.length ? 'birthMissing' : 'birthIncomplete', parts: missing };
  const [day, month, year] = [numberIn(typed.day), monthIn(typed.month, locale), typed.year];
  // 85 may be 1985 or a slip.
  if (!/^\d{4}$/.test(year)) return { trouble: 'birthYear', parts: ['year'] };
  const date = `${year}-${pad(month)}-${pad(day)}`;
  const time = new Date(`${date}T00:00:00Z`);
  const isDay = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date);
  if (!isDay) return { trouble: 'birthImpossible', parts: month >= 1 && month <= 12 ? ['day'] : ['month'] };
  if (date >= today || year < '1900') return { trouble: 'birthPast', parts: ['year'] };
  return date;
}

function numberIn(text: string): number {
  return /^\d{1,2}\.?$/.test(text) ? Number.parseInt(text, 10) : 0;
}

function monthIn(text: string, locale: string): number {
  const named = text.replace(/\.$/, '').toLowerCase();
  if (!/^\p{L}{3,}$/u.test(named)) return numberIn(text);
  const names = Array.from({ length: 12 }, (_, month) =>
    new Date(Date.UTC(2000, month, 15)).toLocaleString(locale, { month: 'long', timeZone: 'UTC' }),
  );
  return names.findIndex((name) => name.toLowerCase().startsWith(named)) + 1;
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}
