import { isEventDatetimeAt } from './event-datetime.js';
import { MAX_ITEMS } from './event-batch.js';
import { deviceFault, PAYLOAD_MAX_DEPTH, TEXT_MAX_LENGTH, textFault } from './event-item.js';
import {
  closingQuote,
  closingQuoteOfKey,
  endOfValue,
  isHex,
  space,
  standsAt,
  UNSURE,
  valueAfterKey,
} from './json-bytes.js';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const DASH = 0x2d;
const FOUR = 0x34;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const TILDE = 0x7e;

const NAME = 1;
const PAYLOAD = 2;
const DATETIME = 4;
const ID = 8;
const USER = 16;
const DEVICE = 32;
const REQUIRED = NAME | PAYLOAD | DATETIME | ID | USER;

interface Field {
  readonly bit: number;
  readonly key: Uint8Array;
}

/** The fields of an item, by the lengths of their keys: no two are the same. */
const FIELDS: (Field | undefined)[] = Array.from({ length: 17 });
for (const [bit, name] of [
  [NAME, 'event_name'],
  [PAYLOAD, 'payload'],
  [DATETIME, 'event_datetime'],
  [ID, 'event_id'],
  [USER, 'user_external_id'],
  [DEVICE, 'device_id'],
] as const) {
  FIELDS[name.length] = { bit, key: Buffer.from(name) };
}

const EVENTS = Buffer.from('events');
const NULL = Buffer.from('null');
const UUID_LENGTH = 36;
/** Root, array and item stand around a payload; other values may nest as deep as it. */
const ROOM_IN_ROOT = PAYLOAD_MAX_DEPTH + 2;

/**
 * How many items a body holds, when one look at its bytes is enough to be sure that it is JSON and that all of them are
 * valid; 0 when it is not enough: then it has to be parsed and asked ({@link itemsOf}). Nothing is made of what is
 * looked at: JSON.parse of a thousand items takes several times as long, and the garbage collector its share.
 *
 * `bytes` must be valid UTF-8. Unsure are all faults, and what is rare: a second `events`, and keys with escapes. Of
 * other repeated keys each value must be valid.
 */
export function itemsForSure(bytes: Buffer): number {
  let items = 0;
  let at = space(bytes, 0);
  let separator = bytes[at] === OPEN_BRACE ? COMMA : 0;
  while (separator === COMMA) {
    const key = space(bytes, at + 1);
    const quote = closingQuoteOfKey(bytes, key);
    const value = quote === UNSURE ? UNSURE : valueAfterKey(bytes, quote);
    if (value === UNSURE) return 0;
    if (quote - key - 1 !== EVENTS.length || !standsAt(bytes, key + 1, EVENTS)) {
      at = endOfValue(bytes, value, ROOM_IN_ROOT);
    } else if (items === 0) {
      ({ items, at } = itemsAt(bytes, value));
    } else return 0;
    if (at === UNSURE) return 0;
    at = space(bytes, at);
    separator = bytes[at]!;
  }
  return separator === CLOSE_BRACE && space(bytes, at + 1) === bytes.length ? items : 0;
}

const NONE = { items: 0, at: UNSURE };

/** The items of the array at `at`, and the index after it. */
function itemsAt(bytes: Buffer, at: number): { items: number; at: number } {
  if (bytes[at] !== OPEN_BRACKET) return NONE;
  for (let items = 1; items <= MAX_ITEMS; items += 1) {
    at = endOfItem(bytes, space(bytes, at + 1));
    if (at === UNSURE) return NONE;
    at = space(bytes, at);
    if (bytes[at] === CLOSE_BRACKET) return { items, at: at + 1 };
    if (bytes[at] !== COMMA) return NONE;
  }
  return NONE;
}

/** Index after the item at `at`, when it is valid. */
function endOfItem(bytes: Buffer, at: number): number {
  if (bytes[at] !== OPEN_BRACE) return UNSURE;
  let seen = 0;
  for (;;) {
    const key = space(bytes, at + 1);
    const quote = closingQuoteOfKey(bytes, key);
    const value = quote === UNSURE ? UNSURE : valueAfterKey(bytes, quote);
    if (value === UNSURE) return UNSURE;
    const field = FIELDS[quote - key - 1];
    if (field === undefined || !standsAt(bytes, key + 1, field.key)) {
      at = endOfValue(bytes, value, PAYLOAD_MAX_DEPTH);
    } else {
      seen |= field.bit;
      at = endOfField(bytes, value, field.bit);
    }
    if (at === UNSURE) return UNSURE;
    at = space(bytes, at);
    if (bytes[at] === CLOSE_BRACE) return (seen & REQUIRED) === REQUIRED ? at + 1 : UNSURE;
    if (bytes[at] !== COMMA) return UNSURE;
  }
}

/** Index after the value of a field, when it is valid. */
function endOfField(bytes: Buffer, at: number, bit: number): number {
  if (bit === PAYLOAD) return bytes[at] === OPEN_BRACE ? endOfValue(bytes, at, PAYLOAD_MAX_DEPTH) : UNSURE;
  if (bytes[at] !== QUOTE) return bit === DEVICE && standsAt(bytes, at, NULL) ? at + NULL.length : UNSURE;
  if (bit === ID) return isUuidV4At(bytes, at + 1) ? at + UUID_LENGTH + 2 : UNSURE;
  const plain = closingQuoteOfPlain(bytes, at);
  if (bit === DATETIME)
    return plain !== UNSURE && isEventDatetimeAt(bytes, at + 1, plain) ? plain + 1 : UNSURE;
  return plain === UNSURE ? endOfText(bytes, at, bit === DEVICE ? deviceFault : textFault) : plain + 1;
}

/** Index of the closing quote of a text that needs no further look: printable ASCII, nothing to trim, not too long. */
function closingQuoteOfPlain(bytes: Buffer, quote: number): number {
  for (let at = quote + 1; ; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      const length = at - quote - 1;
      const trimmed = bytes[quote + 1] !== SPACE && bytes[at - 1] !== SPACE;
      return length > 0 && length <= TEXT_MAX_LENGTH && trimmed ? at : UNSURE;
    }
    if (!(byte >= SPACE && byte <= TILDE) || byte === BACKSLASH) return UNSURE;
  }
}

/** Index after any other text, when it is valid. */
function endOfText(bytes: Buffer, at: number, faultIn: typeof textFault): number {
  const quote = closingQuote(bytes, at);
  if (quote === UNSURE) return UNSURE;
  return faultIn(JSON.parse(bytes.toString('utf8', at, quote + 1))) === null ? quote + 1 : UNSURE;
}

/** Whether a uuid of version 4, and then a quote, stand at `at`. */
function isUuidV4At(bytes: Uint8Array, at: number): boolean {
  const variant = bytes[at + 19]! | 0x20;
  if (bytes[at + UUID_LENGTH] !== QUOTE || bytes[at + 14] !== FOUR) return false;
  if (variant !== 0x38 && variant !== 0x39 && variant !== 0x61 && variant !== 0x62) return false;
  for (let i = 0; i < UUID_LENGTH; i += 1) {
    const byte = bytes[at + i]!;
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (byte !== DASH) return false;
    } else if (!isHex(byte)) return false;
  }
  return true;
}
