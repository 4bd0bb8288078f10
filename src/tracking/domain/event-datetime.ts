const ZERO = 0x30;
const DASH = 0x2d;
const COLON = 0x3a;
const DOT = 0x2e;
const PLUS = 0x2b;
const UPPER_T = 0x54;
const UPPER_Z = 0x5a;
/** Letters may be small. */
const CASE_BIT = 0x20;
const MOST_FRACTION_DIGITS = 9;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MINUTE_MS = 60_000;
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Whether the text is a date and time of ISO 8601 in its extended form that exists: `2026-02-28T23:59`, seconds and up to
 * nine digits of them after a dot, `Z`, an offset `+hh:mm` or nothing (UTC). No 30 February, no 24:00, no leap second;
 * the years 0001 to 9999, also in UTC.
 */
export function isEventDatetime(text: string): boolean {
  return zoneAt(text) !== -1;
}

/** The instant of a text that {@link isEventDatetime}, in UTC with microseconds: `2026-02-28T23:59:00.000000Z`. */
export function utcOf(text: string): string {
  const zone = zoneAt(text);
  if (zone === -1) throw new Error('no event_datetime');
  const fraction = zone > 20 ? text.slice(20, Math.min(zone, 26)) : '';
  const seconds = zone > 16 ? text.slice(17, 19) : '00';
  const offset = offsetMinutes(text, zone);
  const minute = `${text.slice(0, 10)}T${text.slice(11, 16)}`;
  const inUtc =
    offset === 0
      ? minute
      : new Date(Date.parse(`${minute}:00Z`) - offset * MINUTE_MS).toISOString().slice(0, 16);
  return `${inUtc}:${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** Where the zone begins, which is the end of the text when there is none; -1 when the text is no such date and time. */
function zoneAt(text: string): number {
  const { length } = text;
  if (length < 16 || length > 35) return -1;
  const year = two(text, 0) * 100 + two(text, 2);
  const month = two(text, 5);
  const day = two(text, 8);
  // A digit that is none makes its number NaN, and no comparison with NaN holds.
  const dateExists = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  const timeExists = two(text, 11) <= 23 && two(text, 14) <= 59;
  const separated =
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    (text.charCodeAt(10) & ~CASE_BIT) === UPPER_T &&
    text.charCodeAt(13) === COLON;
  if (!dateExists || !timeExists || !separated) return -1;
  const zone = endOfSeconds(text);
  if (zone === -1 || zone === length) return zone;
  if (zone + 1 === length) return (text.charCodeAt(zone) & ~CASE_BIT) === UPPER_Z ? zone : -1;
  return isOffset(text, zone) && staysInRange(text, zone) ? zone : -1;
}

/** Where seconds and their fraction end, if there are any; -1 when they are malformed. */
function endOfSeconds(text: string): number {
  if (text.charCodeAt(16) !== COLON) return 16;
  if (!(two(text, 17) <= 59)) return -1;
  if (text.charCodeAt(19) !== DOT) return 19;
  let end = 20;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end > 20 && end <= 20 + MOST_FRACTION_DIGITS ? end : -1;
}

function isOffset(text: string, at: number): boolean {
  const sign = text.charCodeAt(at);
  return (
    text.length === at + 6 &&
    (sign === PLUS || sign === DASH) &&
    two(text, at + 1) <= 23 &&
    text.charCodeAt(at + 3) === COLON &&
    two(text, at + 4) <= 59
  );
}

/** An offset may lead out of the years 0001 to 9999. */
function staysInRange(text: string, zone: number): boolean {
  const time =
    Date.parse(`${text.slice(0, 10)}T${text.slice(11, 16)}:00Z`) - offsetMinutes(text, zone) * MINUTE_MS;
  return time >= FIRST && time <= LAST;
}

function offsetMinutes(text: string, zone: number): number {
  if (text.length !== zone + 6) return 0;
  const minutes = two(text, zone + 1) * 60 + two(text, zone + 4);
  return text.charCodeAt(zone) === DASH ? -minutes : minutes;
}

function daysIn(year: number, month: number): number {
  if (month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)) return 29;
  return DAYS[month - 1]!;
}

/** The number that two digits at `at` say; NaN when they are none. */
function two(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}
