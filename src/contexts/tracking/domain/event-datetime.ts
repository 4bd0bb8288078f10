/** `2026-02-28T23:59`, then seconds with up to nine digits after a dot, then a zone; the day may not exist yet. */
const FORM =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/;
/** What follows the minutes. */
const REST = /^(?::(\d\d)(?:\.(\d+))?)?(.*)$/;
const MINUTES_END = 16;
const KEPT_FRACTION_DIGITS = 6;

const MINUTE_MS = 60_000;
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:00Z');

/**
 * Whether the text is a date and time of ISO 8601 in its extended form, and exists: `2026-02-28T23:59`, then, as it
 * may be, seconds with up to nine digits after a dot, then `Z`, an offset `+hh:mm` or nothing, which means UTC. There is
 * no 30 February, no 24:00 and no leap second. The year is 0001 to 9999, in UTC too.
 */
export function isEventDatetime(text: string): boolean {
  if (!FORM.test(text)) return false;
  if (text.slice(8, 10) > '28' && !dayExists(text)) return false;
  const year = text.slice(0, 4);
  if (year === '0000') return false;
  if (year > '0001' && year < '9999') return true;
  const utc = minuteInUtc(text, REST.exec(text.slice(MINUTES_END))![3]!);
  return utc >= FIRST && utc <= LAST;
}

/** The instant of a text that {@link isEventDatetime}, in UTC and cut to microseconds: `2026-02-28T23:59:00.000000Z`. */
export function utcOf(text: string): string {
  const [, seconds = '00', fraction = '', zone = ''] = REST.exec(text.slice(MINUTES_END))!;
  const minute =
    zone.length > 1
      ? new Date(minuteInUtc(text, zone)).toISOString().slice(0, MINUTES_END)
      : `${text.slice(0, 10)}T${text.slice(11, MINUTES_END)}`;
  return `${minute}:${seconds}.${fraction.slice(0, KEPT_FRACTION_DIGITS).padEnd(KEPT_FRACTION_DIGITS, '0')}Z`;
}

/** A day that does not exist would be one of the month after. */
function dayExists(text: string): boolean {
  return new Date(Date.parse(`${text.slice(0, 10)}T00:00:00Z`)).getUTCDate() === Number(text.slice(8, 10));
}

/** Milliseconds since 1970 of the full minute. `Z` and no zone have no digits: an offset of 0. */
function minuteInUtc(text: string, zone: string): number {
  const offset = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  const minute = Date.parse(`${text.slice(0, 10)}T${text.slice(11, MINUTES_END)}Z`);
  return minute - (zone.startsWith('-') ? -offset : offset) * MINUTE_MS;
}
