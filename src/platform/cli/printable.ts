/** Control characters and marks of text direction, which stored text may contain and a terminal would obey. */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const BREAKS = /[\n\t]/g;

/** Writes steering characters as JSON escapes, so that JSON text keeps its value. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(STEERING, (each) => (each === '\n' || each === '\t' ? each : escaped(each)));
}

export function inOneLine(text: string): string {
  return printable(text).replaceAll(BREAKS, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
