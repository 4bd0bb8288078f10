const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const HTTP_DATES = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^[A-Z][a-z]{2} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Milliseconds that a `Retry-After` field asks to wait, 0 for a date that is past; null for no field, or none that is a
 * Retry-After (RFC 9110 section 10.2.3). `now` is in Unix milliseconds.
 */
export function retryAfterMs(field: string | null, now: number): number | null {
  const value = field?.trim() ?? '';
  if (/^[0-9]+$/.test(value)) return Number(value) * 1000;
  const date = httpDate(value, now);
  return date === null ? null : Math.max(0, date - now);
}

/** Unix milliseconds of any of the three forms of an HTTP-date (RFC 9110 section 5.6.7); null when it is none. */
export function httpDate(value: string, now: number): number | null {
  for (const form of HTTP_DATES) {
    const parts = form.exec(value)?.groups;
    if (!parts) continue;
    const { day, month, hour, minute, second } = parts as Record<string, string>;
    const [monthIndex, dayOfMonth] = [MONTHS.indexOf(month!), Number(day)];
    const midnight = Date.UTC(fullYear(parts['year']!, now), monthIndex, dayOfMonth);
    // 31 Feb and 25:00:00 are no dates. A second may be 60: a leap second.
    if (new Date(midnight).getUTCDate() !== dayOfMonth) return null;
    if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
    return midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  }
  return null;
}

/** A year of two digits that seems more than 50 years ahead is the last past year with these digits. */
function fullYear(year: string, now: number): number {
  if (year.length === 4) return Number(year);
  const thisYear = new Date(now).getUTCFullYear();
  const guess = thisYear - (thisYear % 100) + Number(year);
  return guess > thisYear + 50 ? guess - 100 : guess;
}
