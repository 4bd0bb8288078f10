/** Marks without a glyph: zero-width, bidirectional and variation marks, the soft hyphen, the byte order mark. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Drops invisible marks anywhere and spaces around: copying text from a page or a chat adds both. */
export function tidy(text: string): string {
  return text.replace(INVISIBLE, '').trim();
}

/** Replaces the digits of every script, and the decimal separators that belong to them, by those of ASCII. */
export function asciiDigits(text: string): string {
  return text.replace(/[\u066b\uff0e]/g, '.').replace(/(?![0-9])\p{Nd}/gu, digitIn);
}

/** Unicode encodes the decimal digits of a script in one run from 0 to 9; five such runs of mathematics adjoin. */
function digitIn(digit: string): string {
  let first = digit.codePointAt(0)!;
  const place = first;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((place - first) % 10);
}
