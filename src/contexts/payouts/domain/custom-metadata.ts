/** Deepest nesting of `custom_metadata` that is accepted; the object itself is level 1. */
export const METADATA_MAX_DEPTH = 32;
/** Longest `custom_metadata` that is accepted, in bytes of its JSON text. */
export const METADATA_MAX_BYTES = 16_384;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * The text of the value at `path` in `json`, exactly as it stands there: parsing and writing it again would lose large
 * integers, key order and escapes. `json` must be text of an object that JSON.parse accepted; of repeated keys the last
 * one counts, as it does there. Undefined when there is no such member.
 */
export function memberText(json: string, path: readonly string[]): string | undefined {
  let text: string | undefined = json.slice(json.indexOf('{'));
  for (const key of path) text = text?.charCodeAt(0) === OPEN_BRACE ? lastMember(text, key) : undefined;
  return text;
}

/** How deep the objects and arrays of a valid JSON text nest: `1` is 0, `{}` is 1, `{"a":[]}` is 2. */
export function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) deepest = Math.max(deepest, (depth += 1));
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return deepest;
}

function lastMember(object: string, wanted: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(object, 1);
  while (object.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(object, at);
    const key: unknown = JSON.parse(object.slice(at, keyEnd));
    const start = skipSpace(object, skipSpace(object, keyEnd) + 1);
    const end = endOfValue(object, start);
    if (key === wanted) found = object.slice(start, end);
    at = skipSpace(object, end);
    if (object.charCodeAt(at) === COMMA) at = skipSpace(object, at + 1);
  }
  return found;
}

function endOfValue(json: string, start: number): number {
  const first = json.charCodeAt(start);
  if (first === QUOTE) return endOfString(json, start);
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === COMMA || isSpace(code))) return at;
  }
  return json.length;
}

/** Index after the closing quote of the string that opens at `start`. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (isSpace(json.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
