const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const DASH = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const SMALL_E = 0x65;
const SMALL_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** What the code of a small letter has more than that of its capital. */
const CASE_BIT = 0x20;

const HEX = tableOf('0123456789abcdefABCDEF');
const ESCAPED = tableOf('"\\/bfnrt');
const LITERALS = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** In place of an index: the bytes are no JSON, or JSON of a kind that is left to others. */
export const UNSURE = -1;

/** Index of the first byte from `at` on that is no white space. */
export function space(bytes: Uint8Array, at: number): number {
  let byte = bytes[at]!;
  while (byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB)
    byte = bytes[++at]!;
  return at;
}

/** Index of the quote that closes the string whose opening quote is at `at`; unsure for what JSON.parse refuses. */
export function closingQuote(bytes: Uint8Array, at: number): number {
  for (at += 1; ; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) {
      const escaped = bytes[at + 1]!;
      if (ESCAPED[escaped] === 1) at += 1;
      else if (escaped === SMALL_U && areHex(bytes, at + 2)) at += 5;
      else return UNSURE;
    } else if (!(byte >= SPACE)) return UNSURE;
  }
}

/** Index of the quote that closes the key whose opening quote is to be at `at`; unsure when it holds an escape. */
export function closingQuoteOfKey(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return UNSURE;
  for (at += 1; ; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || !(byte >= SPACE)) return UNSURE;
  }
}

/** Index of the value that follows the key whose closing quote is at `at`. */
export function valueAfterKey(bytes: Uint8Array, at: number): number {
  at = space(bytes, at + 1);
  return bytes[at] === COLON ? space(bytes, at + 1) : UNSURE;
}

/** Index after the value at `at`; unsure when it nests more than `room` arrays and objects. */
export function endOfValue(bytes: Uint8Array, at: number, room: number): number {
  const byte = bytes[at]!;
  if (byte === QUOTE) {
    const quote = closingQuote(bytes, at);
    return quote === UNSURE ? UNSURE : quote + 1;
  }
  if (byte === OPEN_BRACE) return room === 0 ? UNSURE : endOfObject(bytes, at, room - 1);
  if (byte === OPEN_BRACKET) return room === 0 ? UNSURE : endOfArray(bytes, at, room - 1);
  return byte === DASH || isDigit(byte) ? endOfNumber(bytes, at) : endOfLiteral(bytes, at);
}

function endOfObject(bytes: Uint8Array, at: number, room: number): number {
  at = space(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    const quote = closingQuoteOfKey(bytes, at);
    if (quote === UNSURE) return UNSURE;
    const value = valueAfterKey(bytes, quote);
    if (value === UNSURE) return UNSURE;
    at = endOfValue(bytes, value, room);
    if (at === UNSURE) return UNSURE;
    at = space(bytes, at);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at] !== COMMA) return UNSURE;
    at = space(bytes, at + 1);
  }
}

function endOfArray(bytes: Uint8Array, at: number, room: number): number {
  at = space(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACKET) return at + 1;
  for (;;) {
    at = endOfValue(bytes, at, room);
    if (at === UNSURE) return UNSURE;
    at = space(bytes, at);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    if (bytes[at] !== COMMA) return UNSURE;
    at = space(bytes, at + 1);
  }
}

function endOfNumber(bytes: Uint8Array, at: number): number {
  if (bytes[at] === DASH) at += 1;
  if (bytes[at] === ZERO) at += 1;
  else at = endOfDigits(bytes, at);
  if (at !== UNSURE && bytes[at] === DOT) at = endOfDigits(bytes, at + 1);
  if (at === UNSURE || (bytes[at]! | CASE_BIT) !== SMALL_E) return at;
  const sign = bytes[at + 1];
  return endOfDigits(bytes, sign === PLUS || sign === DASH ? at + 2 : at + 1);
}

/** Unsure when there is none. */
function endOfDigits(bytes: Uint8Array, at: number): number {
  if (!isDigit(bytes[at]!)) return UNSURE;
  do at += 1;
  while (isDigit(bytes[at]!));
  return at;
}

function endOfLiteral(bytes: Uint8Array, at: number): number {
  for (const literal of LITERALS) if (standsAt(bytes, at, literal)) return at + literal.length;
  return UNSURE;
}

/** Whether `expected` stands at `at`. */
export function standsAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i += 1) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

export function isHex(byte: number): boolean {
  return HEX[byte] === 1;
}

function areHex(bytes: Uint8Array, at: number): boolean {
  return isHex(bytes[at]!) && isHex(bytes[at + 1]!) && isHex(bytes[at + 2]!) && isHex(bytes[at + 3]!);
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
