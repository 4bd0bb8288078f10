const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** `"`, `\`, b, f, n, r, t: the escapes that canonical texts have too. */
const ESCAPED = new Set([0x22, 0x5c, 0x62, 0x66, 0x6e, 0x72, 0x74]);
/** Integers of so many digits are written in one way alone. */
const MAX_DIGITS = 15;
const LITERALS = ['null', 'true', 'false', '[]'];

/**
 * The canonical text (RFC 8785) of the JSON `text`, without parsing it, where that is merely a matter of the order of its
 * members: an object as nearly all events have it, flat and written without white space. Null: parse it.
 */
export function canonicalText(text: string): string | null {
  if (text === '{}') return text;
  if (text.charCodeAt(0) !== OPEN) return null;
  const members: string[] = [];
  for (let at = 1; ;) {
    const colon = endOfName(text, at);
    const end = colon < 0 ? -1 : endOfValue(text, colon + 1);
    if (end < 0) return null;
    members.push(text.slice(at, end));
    at = end + 1;
    const next = text.charCodeAt(end);
    if (next === CLOSE) return at === text.length ? inOrder(members) : null;
    if (next !== COMMA) return null;
  }
}

/** The quote that ends a name is before all characters of names: texts of members are in the order of their names. */
function inOrder(members: string[]): string | null {
  members.sort();
  for (let n = 1; n < members.length; n += 1) if (haveSameName(members[n - 1]!, members[n]!)) return null;
  return `{${members.join(',')}}`;
}

function haveSameName(a: string, b: string): boolean {
  for (let at = 1; ; at += 1) {
    const unit = a.charCodeAt(at);
    if (unit !== b.charCodeAt(at)) return false;
    if (unit === QUOTE) return true;
  }
}

/** Of names of small letters, digits and underscores alone; the place of the colon. */
function endOfName(text: string, from: number): number {
  if (text.charCodeAt(from) !== QUOTE) return -1;
  for (let at = from + 1; ; at += 1) {
    const unit = text.charCodeAt(at);
    if ((unit >= 0x61 && unit <= 0x7a) || unit === 0x5f || isDigit(unit)) continue;
    return unit === QUOTE && text.charCodeAt(at + 1) === COLON ? at + 1 : -1;
  }
}

/** The place behind the value; -1 for one that has another canonical text, or may have. */
function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return endOfString(text, from + 1);
  if (first === MINUS || isDigit(first)) return endOfInteger(text, first === MINUS ? from + 1 : from, from);
  const literal = LITERALS.find((each) => text.startsWith(each, from));
  return literal === undefined ? -1 : from + literal.length;
}

function endOfString(text: string, from: number): number {
  for (let at = from; ; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    if (unit === BACKSLASH) {
      at += 1;
      if (!ESCAPED.has(text.charCodeAt(at))) return -1;
    } else if (!(unit >= 0x20 && unit < 0xd800)) return -1;
  }
}

function endOfInteger(text: string, digits: number, from: number): number {
  let at = digits;
  while (isDigit(text.charCodeAt(at))) at += 1;
  const isZero = text.charCodeAt(digits) === ZERO;
  const isOne = isZero ? at === from + 1 : at > digits && at - digits <= MAX_DIGITS;
  return isOne ? at : -1;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
