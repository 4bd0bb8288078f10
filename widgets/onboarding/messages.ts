import type { Messages } from '../../src/contexts/onboarding/words/messages.js';
import type { FormatOf } from '../format.js';
import type { Refusal } from './api.js';

export { rich, formatIn } from '../format.js';
/** Returns a text of the page in the person's language. */
export type Format = FormatOf<Messages>;

/** Formats a wait as `in 2 minutes`, rounded up. */
export function inTime(seconds: number, locale: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });
  if (seconds < 60) return format.format(Math.max(1, Math.ceil(seconds)), 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? format.format(minutes, 'minute') : format.format(Math.ceil(minutes / 60), 'hour');
}

export function timeIn(iso: string, locale: string): string {
  return new Date(iso).toLocaleString(locale, { dateStyle: 'long', timeStyle: 'short' });
}

/** Describes a refusal that belongs to no field. */
export function describeTrouble(
  format: Format,
  locale: string,
  { status, retryAfterSeconds }: Refusal,
): string {
  if (status === 0) return format(navigator.onLine ? 'troubleUnreachable' : 'troubleOffline');
  if (status === 429)
    return retryAfterSeconds === null
      ? format('troubleToday')
      : format('troubleOften', { time: inTime(retryAfterSeconds, locale) });
  return format(status >= 500 || status < 400 ? 'troubleServer' : 'troubleEntry');
}
