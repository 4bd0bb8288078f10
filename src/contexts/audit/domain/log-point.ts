import { parseDateTime } from '../../../kernel/instant.js';

/** A place in the log: everything up to it, itself included. Null is the end of the log. */
export type LogPoint =
  | { readonly kind: 'position'; readonly position: string }
  | { readonly kind: 'time'; readonly time: Date }
  | null;

const POSITION = /^[0-9]{1,40}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export const POINT_FORMS =
  'a position of the log (digits alone), or a time: 2026-01-31, 2026-01-31T12:00, 2026-01-31T12:00:00.123, each in UTC ' +
  'unless it ends with an offset such as +02:00; a date alone is its midnight';

/** Null when the text is neither a position nor a time. */
export function readPoint(text: string): Exclude<LogPoint, null> | null {
  if (POSITION.test(text)) return { kind: 'position', position: text.replace(/^0+(?=\d)/, '') };
  const given = text.trim();
  const time = parseDateTime(DATE.test(given) ? `${given}T00:00` : given);
  return time === null ? null : { kind: 'time', time };
}
