/** Reads JSON in place, without recursion. Results for text that JSON.parse rejects are arbitrary. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Returns the nesting depth of objects and arrays: `1` is 0, `{}` is 1, `{"a":[]}` is 2. */
export function measureDepth(json: string): number {
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

/** Returns the exact text of the value at `path`, unchanged by a parse. The last of repeated keys counts. */
export function memberText(json: string, path: readonly string[]): string | undefined {
  let text: string | undefined = json;
  for (const member of path) {
    const object: string = text;
    text = undefined;
    eachMember(object, 0, (key, start) => {
      const end = endOfValue(object, start);
      if (key === member) text = object.slice(start, end);
      return end;
    });
    if (text === undefined) return undefined;
  }
  return text;
}

/** Returns the JSON text of `fields` with one more member, whose value `text` is already JSON. */
export function withJsonText(fields: object, name: string, text: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},${JSON.stringify(name)}:${text}}`;
}

/** Calls `visit` for each member, which returns the value's end. Returns the index after the object. */
export function eachMember(json: string, at: number, visit: (key: string, start: number) => number): number {
  at = skipSpace(json, at);
  if (json.charCodeAt(at) !== OPEN_BRACE) return at;
  do {
    at = skipSpace(json, at + 1);
    if (json.charCodeAt(at) !== QUOTE) break;
    const end = endOfString(json, at);
    const key = readString(json, at, end);
    // This skips the colon.
    at = skipSpace(json, visit(key, skipSpace(json, skipSpace(json, end) + 1)));
  } while (json.charCodeAt(at) === COMMA);
  return at + 1;
}

export function eachElement(json: string, at: number, visit: (start: number) => number): number {
  at = skipSpace(json, at);
  if (json.charCodeAt(at) !== OPEN_BRACKET) return at;
  do {
    at = skipSpace(json, at + 1);
    if (json.charCodeAt(at) === CLOSE_BRACKET) break;
    at = skipSpace(json, visit(at));
  } while (json.charCodeAt(at) === COMMA);
  return at + 1;
}

/** Returns the string between the quotes at `start` and before `end`. Throws SyntaxError for a bad escape. */
export function readString(json: string, start: number, end: number): string {
  const inner = json.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
}

export function endOfValue(json: string, start: number): number {
  if (json.charCodeAt(start) === QUOTE) return endOfString(json, start);
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at) - 1;
    else if (code < OPEN_BRACKET) {
      if (depth === 0 && (code === COMMA || isSpace(code))) return at;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth <= 0) return depth === 0 ? at + 1 : at;
    }
  }
  return json.length;
}

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

/** A byte order mark, which may precede a text, counts as white space. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0xfeff;
}

export class JsonText {
  constructor(readonly text: string) {}
}

/** Replaces the object at `path` in `body` by its JsonText. A value that is no object remains. */
export function keepJsonText(body: unknown, path: readonly string[], json: string): unknown {
  let parent: unknown = body;
  for (const name of path.slice(0, -1))
    parent = (parent as Record<string, unknown> | null | undefined)?.[name];
  const name = path.at(-1) ?? '';
  const members = parent as Record<string, unknown> | null | undefined;
  if (typeof members?.[name] === 'object' && members[name] !== null && !Array.isArray(members[name]))
    members[name] = new JsonText(memberText(json, path) ?? '{}');
  return body;
}
