import { Fault } from '../../../kernel/fault.js';
import { isDecimal, isZero } from '../../../kernel/decimal.js';
import { parseInstant } from '../../../kernel/instant.js';
import type { Rule } from '../../../platform/dto/field.js';
import { day, text } from '../../../platform/dto/rules.js';
import { FIAT_CURRENCIES } from './fiat-currencies.js';

/** The most code points of a text that a caller chooses (contract.md 22.2). */
const MOST_CHARACTERS = 255;
// Text that PostgreSQL or UTF-8 cannot hold, or that no person has typed.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** Up to 255 code points, none of them a control character. */
export function printable(minLength: 0 | 1): Rule {
  const length = `must have ${minLength === 0 ? 'at most' : '1 to'} ${MOST_CHARACTERS} characters`;
  return text({ minLength, maxLength: MOST_CHARACTERS }, (value) => {
    // A code point is one or two units.
    const isLong = value.length > 2 * MOST_CHARACTERS || [...value].length > MOST_CHARACTERS;
    if (isLong || value.length < minLength) return new Fault(length);
    return UNPRINTABLE.test(value) ? new Fault('must hold no control characters') : value;
  });
}

/** A tag or a memo; an empty one is none. */
export const tagOrMemo: Rule = {
  ...printable(0),
  read: (value, raw) => (value === '' ? undefined : printable(0).read(value, raw)),
};

/** One of the ids of tokens or chains that can be asked for. */
export const SOL = ['sol'] as const;
export const SOLANA = ['solana'] as const;

const MOST_FIAT = 1_000_000;

export const fiatAmount: Rule = text(
  { pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,2})?$', examples: ['150.00'] },
  (value) =>
    isDecimal(value, 2) && !isZero(value) && Number(value) <= MOST_FIAT
      ? value
      : new Fault(
          `must be a decimal with at most 2 digits after the point, more than 0 and at most ${MOST_FIAT}`,
        ),
);

export const fiatCurrency: Rule = text({ pattern: '^[A-Z]{3}$', examples: ['EUR'] }, (value) =>
  FIAT_CURRENCIES.has(value) ? value : new Fault('must be the ISO 4217 code of a currency, such as EUR'),
);

/** A place in time that a list begins or ends with. */
export interface DatePoint {
  readonly at: Date;
  /** The first instant after it: of the day when it is a date without a time. */
  readonly end: Date;
}

const DAY_MS = 86_400_000;
/** PostgreSQL and JavaScript write years of four digits alike. */
const LATEST = Date.UTC(9999, 0, 1);

/** A date, which is a whole day in UTC, or a date and time (contract.md 24.2). */
export const datePoint: Rule = text(
  { anyOf: [{ format: 'date' }, { format: 'date-time' }], examples: ['2026-01-31', '2026-01-31T12:00:00Z'] },
  (value) => {
    const date = day.read(value, () => '');
    const at = date instanceof Fault ? parseInstant(value) : new Date(`${value}T00:00:00Z`);
    if (at === null || at.getTime() < 0 || at.getTime() > LATEST)
      return new Fault('must be a date such as 2026-01-31, or a date and time such as 2026-01-31T12:00:00Z');
    return { at, end: new Date(at.getTime() + (date instanceof Fault ? 1 : DAY_MS)) } satisfies DatePoint;
  },
);
