const ZERO = 0x30;
const NINE = 0x39;
const DASH = 0x2d;
const COLON = 0x3a;
const DOT = 0x2e;
const PLUS = 0x2b;
const UPPER_T = 0x54;
const UPPER_Z = 0x5a;
/** What the code of a small letter has more than that of its capital. */
const CASE_BIT = 0x20;

/** `2026-02-28T23:59` and `2026-02-28T23:59:59.123456789+01:00`. */
const SHORTEST = 16;
const LONGEST = 35;
const SECONDS_AT = 17;
const FRACTION_AT = 20;
const MOST_FRACTION_DIGITS = 9;
const KEPT_FRACTION_DIGITS = 6;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MINUTE_MS = 60_000;
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:00Z');

/** Where a text is looked at; nothing is kept here. */
const scratch = new Uint8Array(LONGEST);

/**
 * Whether the text is a date and time of ISO 8601 in its extended form, and exists: `2026-02-28T23:59`, then, as it
 * may be, seconds with up to nine digits after a dot, then `Z`, an offset `+hh:mm` or nothing, which means UTC. There is
 * no 30 February, no 24:00 and no leap second. The year is 0001 to 9999, in UTC too.
 */
export function isEventDatetime(text: string): boolean {
  const { length } = text;
  if (length > LONGEST) return false;
  for (let i = 0; i < length; i += 1) {
    const code = text.charCodeAt(i);
    // A wider code would be cut to some other character.
    scratch[i] = code > 0x7f ? 0 : code;
  }
  return isEventDatetimeAt(scratch, 0, length);
}

/** As {@link isEventDatetime}, for the text whose bytes stand from `start` up to `end`. */
export function isEventDatetimeAt(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < SHORTEST || end - start > LONGEST) return false;
  const year = two(bytes, start) * 100 + two(bytes, start + 2);
  const month = two(bytes, start + 5);
  const day = two(bytes, start + 8);
  // What is no number is NaN, and no comparison with NaN holds.
  const dateExists = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  const timeExists = two(bytes, start + 11) <= 23 && two(bytes, start + 14) <= 59;
  const separated =
    bytes[start + 4] === DASH &&
    bytes[start + 7] === DASH &&
    (bytes[start + 10]! & ~CASE_BIT) === UPPER_T &&
    bytes[start + 13] === COLON;
  if (!dateExists || !timeExists || !separated) return false;
  const zone = endOfSeconds(bytes, start, end);
  if (zone === -1 || zone === end) return zone === end;
  if (zone + 1 === end) return (bytes[zone]! & ~CASE_BIT) === UPPER_Z;
  return isOffset(bytes, zone, end) && isInRangeOfYears(bytes, start, zone);
}

/** The instant of a text that {@link isEventDatetime}, in UTC and cut to microseconds: `2026-02-28T23:59:00.000000Z`. */
export function utcOf(text: string): string {
  const minute = `${text.slice(0, 10)}T${text.slice(11, SHORTEST)}`;
  const [, seconds = '00', fraction = '', zone = ''] = /^(?::(\d\d)(?:\.(\d+))?)?(.*)$/.exec(
    text.slice(SHORTEST),
  )!;
  const offset = zone.length > 1 ? offsetOf(zone) : 0;
  const inUtc =
    offset === 0
      ? minute
      : new Date(Date.parse(`${minute}Z`) - offset * MINUTE_MS).toISOString().slice(0, SHORTEST);
  return `${inUtc}:${seconds}.${fraction.slice(0, KEPT_FRACTION_DIGITS).padEnd(KEPT_FRACTION_DIGITS, '0')}Z`;
}

/** Where seconds and their fraction end, if there are any; -1 when they are malformed. */
function endOfSeconds(bytes: Uint8Array, start: number, end: number): number {
  if (start + SHORTEST === end || bytes[start + SHORTEST] !== COLON) return start + SHORTEST;
  if (start + SECONDS_AT + 2 > end || !(two(bytes, start + SECONDS_AT) <= 59)) return -1;
  const fraction = start + FRACTION_AT;
  if (fraction > end || bytes[fraction - 1] !== DOT) return fraction - 1;
  let at = fraction;
  while (at < end && bytes[at]! >= ZERO && bytes[at]! <= NINE) at += 1;
  return at > fraction && at <= fraction + MOST_FRACTION_DIGITS ? at : -1;
}

function isOffset(bytes: Uint8Array, at: number, end: number): boolean {
  return (
    end === at + 6 &&
    (bytes[at] === PLUS || bytes[at] === DASH) &&
    two(bytes, at + 1) <= 23 &&
    bytes[at + 3] === COLON &&
    two(bytes, at + 4) <= 59
  );
}

/** Whether an offset leads out of the years 0001 to 9999. */
function isInRangeOfYears(bytes: Uint8Array, start: number, zone: number): boolean {
  const year = two(bytes, start) * 100 + two(bytes, start + 2);
  if (year > 1 && year < 9999) return true;
  const text = String.fromCharCode(...bytes.subarray(start, zone + 6));
  const offset = offsetOf(text.slice(-6));
  const time = Date.parse(`${text.slice(0, 10)}T${text.slice(11, SHORTEST)}Z`) - offset * MINUTE_MS;
  return time >= FIRST && time <= LAST;
}

/** Minutes. */
function offsetOf(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith('-') ? -minutes : minutes;
}

function daysIn(year: number, month: number): number {
  if (month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)) return 29;
  return DAYS[month - 1]!;
}

/** The number that two digits at `at` say; NaN when they are none. */
function two(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - ZERO;
  const ones = bytes[at + 1]! - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}
