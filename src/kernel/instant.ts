const INSTANT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * The instant of an RFC 3339 date-time, cut to milliseconds; null for any other text, for a date or time that
 * does not exist, and for what lies before 1970.
 */
export function parseInstant(text: string): Date | null {
  const parts = INSTANT.exec(text);
  if (!parts) return null;
  const [, date, time, fraction = '', zone = ''] = parts;
  const local = Date.parse(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${date}T${time}`)) return null;
  const instant = local - offsetMs(zone);
  return instant < 0 ? null : new Date(instant);
}

const ISO_8601 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/i;

/** As {@link parseInstant}, also without seconds, which are 0, and without an offset: UTC. */
export function parseDateTime(text: string): Date | null {
  const parts = ISO_8601.exec(text);
  return parts && parseInstant(`${parts[1]!.toUpperCase()}${parts[2] ?? ':00'}${parts[3] ?? 'Z'}`);
}

function offsetMs(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** `2026-01-31T12:00:00.123456Z`: the instant so many microseconds after 1970, in the years 0001 to 9999. */
export function isoOfMicroseconds(microseconds: bigint): string {
  const fraction = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const second = new Date(Number((microseconds - fraction) / 1000n)).toISOString().slice(0, 19);
  return `${second}.${String(fraction).padStart(6, '0')}Z`;
}

/** The microseconds after 1970 of what {@link isoOfMicroseconds} writes. */
export function microsecondsOfIso(iso: string): bigint {
  return BigInt(Date.parse(`${iso.slice(0, 23)}Z`)) * 1000n + BigInt(iso.slice(23, 26));
}
