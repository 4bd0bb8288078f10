/**
 * A time in ISO 8601, extended or basic: `2026-02-28T23:59:58.123+01:00`, `20260228T235958,123Z`. A space may
 * replace the `T`, as in Python and SQL. The offset may be `+01` or `+0100`.
 */
const DATE_TIME =
  /^(\d{4})(-?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])[Tt ]([01]\d|2[0-4])(:?)([0-5]\d)(?:\6([0-5]\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+\u2212-])([01]\d|2[0-3]):?([0-5]\d)?)?$/;
const ZONED = /(?:[Zz]|[Tt ].*[+\u2212-]\d\d:?(?:\d\d)?)$/;
const MINUTE_MS = 60_000;
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:00Z');

/**
 * Parses a time to UTC, truncated to microseconds (`2026-02-28T23:59:00.000000Z`), or returns null. Missing
 * seconds are 0, a missing offset is UTC, and `24:00` is the next midnight. Leap seconds, week dates, ordinal
 * dates and years outside 0001 to 9999 are invalid.
 */
export function toUtc(text: string): string | null {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return null;
  const [, year = '', , month = '', day = '', hour = '', , minute = '', second = '00', fraction = ''] = parts;
  const date = `${year}-${month}-${day}`;
  const rest = `${second}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
  const isPlain = parts[10] === undefined && hour !== '24' && year > '0001' && year < '9999';
  if (isPlain && day <= '28') return `${date}T${hour}:${minute}:${rest}`;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // Date converts a nonexistent day into one of the next month.
  if (Number.isNaN(midnight) || new Date(midnight).getUTCDate() !== Number(day)) return null;
  if (hour === '24' && /[1-9]/.test(`${minute}${rest}`)) return null;
  const offset = Number(parts[11] ?? 0) * 60 + Number(parts[12] ?? 0);
  const minutes = Number(hour) * 60 + Number(minute) + (parts[10] === '+' ? -offset : offset);
  const at = midnight + minutes * MINUTE_MS;
  const exists = year !== '0000' && at >= FIRST && at <= LAST;
  return exists ? `${new Date(at).toISOString().slice(0, 17)}${rest}` : null;
}

/** Parses as `toUtc` does, to the millisecond. Returns null for times before 1970. */
export function parseDateTime(text: string): Date | null {
  const utc = toUtc(text);
  return utc === null || utc < '1970' ? null : new Date(`${utc.slice(0, 23)}Z`);
}

/** Parses as `parseDateTime` does. Returns null for a text without an offset. */
export function parseInstant(text: string): Date | null {
  return ZONED.test(text) ? parseDateTime(text) : null;
}

/** Formats microseconds since 1970 as `2026-01-31T12:00:00.123456Z`, for the years 0001 to 9999. */
export function isoOfMicroseconds(microseconds: bigint): string {
  const fraction = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const second = new Date(Number((microseconds - fraction) / 1000n)).toISOString().slice(0, 19);
  return `${second}.${String(fraction).padStart(6, '0')}Z`;
}

/** Parses the result of isoOfMicroseconds. */
export function microsecondsOfIso(iso: string): bigint {
  return BigInt(Date.parse(`${iso.slice(0, 23)}Z`)) * 1000n + BigInt(iso.slice(23, 26));
}
