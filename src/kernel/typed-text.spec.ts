import { describe, expect, it } from '@jest/globals';
import { asciiDigits, tidy } from './typed-text.js';

describe('a typed text', () => {
  it.each([
    ['a zero-width space', 'a\u200bb'],
    ['a word joiner', 'a\u2060b'],
    ['a byte order mark', '\ufeffab'],
    ['a soft hyphen', 'a\u00adb'],
    ['a left-to-right mark', '\u200eab\u200e'],
    ['an Arabic letter mark', '\u061cab'],
    ['an isolate', '\u2066ab\u2069'],
    ['a variation selector', 'a\ufe0fb'],
    ['a tag', 'ab\u{e0041}'],
    ['spaces outside of marks', ' \u200b ab\u2003\u200b\u00a0'],
  ])('loses %s', (_, text) => expect(tidy(text)).toBe('ab'));

  it('retains visible characters', () => {
    expect(tidy('a b\u0301-\u{1f600}')).toBe('a b\u0301-\u{1f600}');
  });

  it('gets ASCII digits for the digits of every Unicode script', () => {
    const digits = Array.from({ length: 0x110000 }, (_, code) => code)
      .filter((code) => /^\p{Nd}$/u.test(String.fromCodePoint(code)))
      .map((code) => String.fromCodePoint(code));
    expect(digits.length).toBeGreaterThanOrEqual(680);
    expect(asciiDigits(digits.join(''))).toBe('0123456789'.repeat(digits.length / 10));
  });

  it.each([
    ['𝟗𝟘𝟡', '909'],
    ['١٠٫٥', '10.5'],
    ['１０．５', '10.5'],
    ['1²½五', '1²½五'],
  ])('%s becomes %s in ASCII digits', (text, ascii) => expect(asciiDigits(text)).toBe(ascii));
});
