import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { toUtc } from '../../../kernel/instant.js';
import { tidy } from '../../../kernel/typed-text.js';

/** The maximum nesting of a payload; the payload object is level 1. */
export const PAYLOAD_MAX_DEPTH = 32;
/** The maximum length of event_name, user_external_id and device_id, in code points. */
export const TEXT_MAX_LENGTH = 255;

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
/** The pattern of trimmed printable ASCII, a fast path for nearly all texts. */
const PLAIN = /^[!-~](?:[ -~]{0,253}[!-~])?$/;

/** A normalized item, as stored in `tracking.events`. */
export interface TrackedItem {
  readonly event_id: string;
  readonly event_name: string;
  /** The time in UTC with microseconds, such as `2026-02-28T23:59:00.000000Z`. */
  readonly event_datetime: string;
  readonly user_external_id: string;
  readonly device_id: string | null;
  readonly payload: string;
}

/** A valid item before normalization (contract.md 17.4 to 17.7). */
export interface ValidItem extends Omit<TrackedItem, 'payload' | 'device_id'> {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly device_id?: string | null;
}

export interface BatchEvent extends TrackedItem {
  readonly batch: number;
  readonly item: number;
}

/** Returns null or the first fault, to append to the path of the item, such as `.event_id is required`. */
export function findFault(item: unknown): string | null {
  if (!isObject(item)) return ' must be an object';
  for (const [field, faultIn] of CHECKS) {
    const fault = faultIn(item[field]);
    if (fault !== null) return `.${field} ${fault}`;
  }
  return null;
}

const CHECKS = Object.entries<(value: unknown) => string | null>({
  event_name: textFault,
  payload: payloadFault,
  event_datetime: datetimeFault,
  event_id: idFault,
  // Invisible characters do not count, because toItem removes them.
  user_external_id: (value: unknown) =>
    textFault(typeof value === 'string' && !PLAIN.test(value) ? tidy(value) : value),
  // Surrounding space counts, because toItem does not trim this id.
  device_id: (value: unknown) =>
    missing(value) ? null : (textFault(value) ?? keptTextFault(value as string)),
} satisfies Record<keyof ValidItem, unknown>);

/** Normalizes a valid item. `payload` is its JSON text. */
export function toItem(item: Omit<ValidItem, 'payload'>, payload: string): TrackedItem {
  return {
    event_id: item.event_id.toLowerCase(),
    event_name: item.event_name.trim().toLowerCase(),
    event_datetime: toUtc(item.event_datetime)!,
    user_external_id: tidy(item.user_external_id),
    device_id: item.device_id ?? null,
    payload,
  };
}

function payloadFault(value: unknown): string | null {
  if (!isObject(value)) return missing(value) ? 'is required' : 'must be an object';
  const isFlat = nestsWithin(value, PAYLOAD_MAX_DEPTH);
  return isFlat ? null : `must nest at most ${PAYLOAD_MAX_DEPTH} levels deep`;
}

function nestsWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) if (!nestsWithin(members[key], levels - 1)) return false;
  return true;
}

function blankFault(value: unknown): string | null {
  if (typeof value !== 'string') return missing(value) ? 'is required' : 'must be a string';
  return value.trim() === '' ? 'must not be blank' : null;
}

function textFault(value: unknown): string | null {
  if (typeof value === 'string' && PLAIN.test(value)) return null;
  return blankFault(value) ?? keptTextFault((value as string).trim());
}

function keptTextFault(text: string): string | null {
  if (text.length > TEXT_MAX_LENGTH && [...text].length > TEXT_MAX_LENGTH)
    return `must be at most ${TEXT_MAX_LENGTH} characters`;
  return CONTROL_CHARACTERS.test(text) ? 'must not contain control characters' : null;
}

function datetimeFault(value: unknown): string | null {
  if (typeof value === 'string' && toUtc(value) !== null) return null;
  const fault = 'must be a date and time of ISO 8601 that exists, such as 2026-01-31T12:00:00Z';
  return blankFault(value) ?? fault;
}

function idFault(value: unknown): string | null {
  if (typeof value === 'string' && UUID_V4.test(value)) return null;
  return blankFault(value) ?? 'must be a UUID v4';
}

function missing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The limit of items per batch; more items result in 413 (contract.md 17.3). */
export const MAX_ITEMS = 1000;

/** Returns the number of items. Throws `too_large`, or `bad_request` with a fault (contract.md 17.3). */
export function countItems(body: unknown): number {
  if (!isObject(body)) throw malformed('The request body must be a JSON object');
  const { events } = body;
  if (missing(events)) throw malformed('events is required');
  if (!Array.isArray(events)) throw malformed('events must be an array');
  if (events.length === 0) throw malformed('events must contain at least one event');
  if (events.length > MAX_ITEMS)
    throw new DomainError('too_large', `A batch must contain at most ${MAX_ITEMS} events`);
  for (let i = 0; i < events.length; i += 1) {
    const fault = findFault(events[i]);
    if (fault !== null) throw malformed(`events[${i}]${fault}`);
  }
  return events.length;
}

function malformed(detail: string): DomainError {
  return new DomainError('bad_request', detail);
}
