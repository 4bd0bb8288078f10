/**
 * Characters that control a terminal or the direction of text: control characters but the line break and the tab, and
 * marks of direction. Names, addresses and any stored text may contain them.
 */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const BREAKS = /[\n\t]/g;

/** The text, with those written as JSON writes them: what is JSON stays the same JSON. */
export function printable(text: string): string {
  return text.replaceAll(STEERING, (each) => (each === '\n' || each === '\t' ? each : escaped(each)));
}

/** {@link printable}, and in one line. */
export function inOneLine(text: string): string {
  return printable(text).replaceAll(BREAKS, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
