import { DAY_MS } from '../../kernel/clock.js';
import { Fault } from '../../kernel/fault.js';
import { parseDateTime } from '../../kernel/instant.js';
import { tidy } from '../../kernel/typed-text.js';
import type { Rule } from './field.js';
import { day, instant, text } from './rules.js';

const MAX_QUOTED = 40;

/** Quotes a value for an error message, bounded and on one line. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > MAX_QUOTED ? `${value.slice(0, MAX_QUOTED)}...` : value);
}

/** The first or the last time in a filter of a list. */
export interface DatePoint {
  readonly at: Date;
  /** The first millisecond after `at`, or for a date without a time the start of the next day. */
  readonly end: Date;
}

/** The upper bound, because PostgreSQL and JavaScript write only four-digit years alike. */
const LATEST = Date.UTC(9999, 0, 1);

/** The rule for a date, which means its whole day in UTC, or a date and time (contract.md 24.2). */
export const datePoint: Rule = text(
  { anyOf: [{ format: 'date' }, { format: 'date-time' }], examples: ['2026-01-31', '2026-01-31T12:00:00Z'] },
  (value) => {
    const date = day.read(value);
    const at = parseDateTime(date instanceof Fault ? withPlus(value) : `${String(date)}T00:00`);
    if (at === null || at.getTime() < 0 || at.getTime() > LATEST)
      return new Fault(
        `must be a date such as 2026-01-31, or a date and time such as 2026-01-31T12:00:00Z, not ${quoted(value)}`,
      );
    return { at, end: new Date(at.getTime() + (date instanceof Fault ? 1 : DAY_MS)) } satisfies DatePoint;
  },
);

export const queryInstant: Rule = {
  ...instant,
  read: (value) => instant.read(typeof value === 'string' ? withPlus(value) : value),
};

/** Restores the `+` of an offset, which arrives as a blank where a query does not escape it. */
function withPlus(value: string): string {
  return tidy(value).replace(/(?<=^\S+[Tt ]\d\S*) (?=\d\d(?::?\d\d)?$)/, '+');
}
