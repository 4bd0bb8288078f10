const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Makes a bracket the brace of its side. */
const BRACE_BIT = 0x20;
/** Where the members of the root, and the items of an array that is one of them, stand. */
const MEMBERS = 1;
const ITEMS = 2;
const EVENTS = 'events';
const QUOTED_EVENTS = `"${EVENTS}"`;
/** Of the key, each letter written as `\\u0065`. */
const LONGEST_KEY = EVENTS.length * 6 + 2;

/** What a look at the bytes of a body tells. */
export interface ItemScan {
  /** Whether the array `events` of the root has more items than are allowed; nothing after the first too many was read. */
  readonly tooMany: boolean;
  /** The deepest nesting of arrays and objects in what was read. */
  readonly depth: number;
}

/**
 * Counts the items of the `events` array of a JSON object without parsing it, so that a body with too many of them costs
 * no more than reading it up to the first too many. When the key is repeated, each of its arrays counts. Malformed text
 * gets some answer; the parser then refuses it.
 */
export function scanItems(bytes: Uint8Array, most: number): ItemScan {
  const { length } = bytes;
  let at = skipSpace(bytes, 0);
  const rootIsObject = bytes[at] === OPEN_BRACE;
  let depth = 0;
  let deepest = 0;
  let counting = false;
  let separators = 0;
  // Most bytes of a body stand in strings, and most of the others are no brackets: the order of the tests is that of haste.
  while (at < length) {
    const byte = bytes[at++]!;
    if (byte < OPEN_BRACKET) {
      if (byte === QUOTE) {
        const start = at;
        for (;;) {
          const inside = bytes[at++];
          if (inside === QUOTE || inside === undefined) break;
          if (inside === BACKSLASH) at += 1;
        }
        if (depth === MEMBERS && rootIsObject && isArrayOfEvents(bytes, start - 1, at)) {
          counting = true;
          separators = 0;
        }
      } else if (byte === COMMA && depth === ITEMS && counting) {
        separators += 1;
        if (separators === most) return { tooMany: true, depth: deepest };
      }
    } else {
      const brace = byte | BRACE_BIT;
      if (brace === OPEN_BRACE) {
        depth += 1;
        if (depth > deepest) deepest = depth;
      } else if (brace === CLOSE_BRACE) {
        depth -= 1;
        if (depth === MEMBERS) counting = false;
      }
    }
  }
  return { tooMany: false, depth: deepest };
}

/** Whether the string in the quotes from `start` up to `end` is the key `events`, however it is written, and its value an array. */
function isArrayOfEvents(bytes: Uint8Array, start: number, end: number): boolean {
  const colon = skipSpace(bytes, end);
  if (bytes[colon] !== COLON || bytes[skipSpace(bytes, colon + 1)] !== OPEN_BRACKET) return false;
  if (end - start > LONGEST_KEY) return false;
  let text = '';
  for (let at = start; at < end; at += 1) text += String.fromCharCode(bytes[at]!);
  // A body may hold a hundred thousand of these keys.
  if (!text.includes('\\')) return text === QUOTED_EVENTS;
  try {
    return JSON.parse(text) === EVENTS;
  } catch {
    return false;
  }
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}
