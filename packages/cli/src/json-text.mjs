// JSON as text: laid out without being parsed, so that large integers and the order of keys stay as they came.
const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;
/** Deeper levels are not indented further. */
const MAX_INDENT = 40;
/** Characters that steer a terminal or hide in it: controls, and marks that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

export function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the JSON `text` on one line, without space between tokens. */
export function compactJson(text) {
  return (text.match(TOKEN) ?? []).join('');
}

/** Indented lines, safe to print. `text` must be JSON; `paintKey` may colour the keys. */
export function jsonLines(text, paintKey = String) {
  const tokens = text.match(TOKEN) ?? [];
  const lines = [''];
  let depth = 0;
  const add = (piece) => (lines[lines.length - 1] += piece);
  const breakLine = () => lines.push('  '.repeat(Math.min(depth, MAX_INDENT)));
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    const last = tokens[index - 1];
    switch (token) {
      case '{':
      case '[':
        add(token);
        depth += 1;
        if (next !== '}' && next !== ']') breakLine();
        break;
      case '}':
      case ']':
        depth -= 1;
        if (last !== '{' && last !== '[') breakLine();
        add(token);
        break;
      case ',':
        add(token);
        breakLine();
        break;
      case ':':
        add(': ');
        break;
      default:
        add(next === ':' ? paintKey(printable(token)) : printable(token));
    }
  });
  return lines;
}

/** The text with everything escaped that a terminal would obey instead of show. */
export function printable(text) {
  return text.replace(UNPRINTABLE, (char) => `\\u${char.codePointAt(0).toString(16).padStart(4, '0')}`);
}
