import { isEventDatetime, utcOf } from './event-datetime.js';

/** The deepest nesting of a payload; the object itself is level 1. */
export const PAYLOAD_MAX_DEPTH = 32;
/** Longest event_name, user_external_id and device_id, in code points. */
export const TEXT_MAX_LENGTH = 255;

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
/** What nearly all texts are: printable ASCII without spaces around it. Found to be so at a fraction of the cost. */
const PLAIN = /^[!-~](?:[ -~]{0,253}[!-~])?$/;
/** Nothing that PostgreSQL or UTF-8 cannot hold. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** An item that {@link faultOf} finds nothing wrong with (contract.md 17.4 to 17.7). */
export interface ValidItem {
  readonly event_name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly event_datetime: string;
  readonly event_id: string;
  readonly user_external_id: string;
  readonly device_id?: string | null;
}

/** An item as it is compared and kept; its payload is kept as the text that was sent. */
export interface EventItem {
  /** Lower-case uuid. */
  readonly eventId: string;
  /** Trimmed and in lower case. */
  readonly eventName: string;
  /** UTC with microseconds, `2026-02-28T23:59:00.000000Z`. */
  readonly eventDatetime: string;
  /** Trimmed. */
  readonly userExternalId: string;
  /** As it was sent. */
  readonly deviceId: string | null;
}

/** An item of an accepted batch. */
export interface ReadItem extends EventItem {
  /** JSON text, exactly as it was sent. */
  readonly payload: string;
}

/** An item with its place: the index of its batch among others, and its own in there. */
export interface BatchEvent extends ReadItem {
  readonly batch: number;
  readonly item: number;
}

/** The first thing that is wrong with an item, beginning with ` ` or `.field`; null when it is valid. */
export function faultOf(item: unknown): string | null {
  if (!isObject(item)) return ' must be an object';
  const name = textFault(item['event_name']);
  if (name !== null) return `.event_name ${name}`;
  const payload = item['payload'];
  if (!isObject(payload)) return `.payload ${missing(payload) ? 'is required' : 'must be an object'}`;
  const datetime = datetimeFault(item['event_datetime']);
  if (datetime !== null) return `.event_datetime ${datetime}`;
  const id = idFault(item['event_id']);
  if (id !== null) return `.event_id ${id}`;
  const user = textFault(item['user_external_id']);
  if (user !== null) return `.user_external_id ${user}`;
  const device = item['device_id'];
  if (missing(device)) return null;
  const wrong = deviceFault(device);
  return wrong === null ? null : `.device_id ${wrong}`;
}

/** A valid item in the form in which it is compared and kept. */
export function itemOf(item: ValidItem): EventItem {
  return {
    eventId: item.event_id.toLowerCase(),
    eventName: item.event_name.trim().toLowerCase(),
    eventDatetime: utcOf(item.event_datetime),
    userExternalId: item.user_external_id.trim(),
    deviceId: item.device_id ?? null,
  };
}

/** Whether the arrays and objects of a value nest no deeper than `levels`. */
export function nestsWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) if (!nestsWithin(members[key], levels - 1)) return false;
  return true;
}

/** What is wrong with a name or an id that is kept trimmed; null when nothing is. */
export function textFault(value: unknown): string | null {
  if (typeof value !== 'string') return missing(value) ? 'is required' : 'must be a string';
  if (PLAIN.test(value)) return null;
  const text = value.trim();
  return text === '' ? 'must not be blank' : keptTextFault(text);
}

/** As {@link textFault}, of what is kept as it was sent: the space around it counts too. */
export function deviceFault(value: unknown): string | null {
  return textFault(value) ?? keptTextFault(value as string);
}

function keptTextFault(text: string): string | null {
  if (text.length > TEXT_MAX_LENGTH && [...text].length > TEXT_MAX_LENGTH)
    return `must be at most ${TEXT_MAX_LENGTH} characters`;
  return UNPRINTABLE.test(text) ? 'must hold no control characters' : null;
}

export function datetimeFault(value: unknown): string | null {
  if (typeof value === 'string' && isEventDatetime(value)) return null;
  if (missing(value)) return 'is required';
  if (typeof value !== 'string') return 'must be a string';
  return value.trim() === ''
    ? 'must not be blank'
    : 'must be a date and time of ISO 8601 that exists, such as 2026-01-31T12:00:00Z';
}

export function idFault(value: unknown): string | null {
  if (typeof value === 'string' && UUID_V4.test(value)) return null;
  if (missing(value)) return 'is required';
  if (typeof value !== 'string') return 'must be a string';
  return value.trim() === '' ? 'must not be blank' : 'must be a UUID v4';
}

function missing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
