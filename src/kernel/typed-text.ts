/** The characters without a glyph: zero-width, bidirectional and variation marks, soft hyphen, BOM. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Removes invisible characters and surrounding spaces, which text copied from a page or a chat often has. */
export function tidy(text: string): string {
  return text.replace(INVISIBLE, '').trim();
}

/** Replaces the digits and decimal separators of other scripts by those of ASCII. */
export function asciiDigits(text: string): string {
  return text.replace(/[\u066b\uff0e]/g, '.').replace(/(?![0-9])\p{Nd}/gu, digitIn);
}

/** Returns the value of a digit by its place in its script, modulo 10 for the adjacent mathematical sets. */
function digitIn(digit: string): string {
  let first = digit.codePointAt(0)!;
  const place = first;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((place - first) % 10);
}
