import { describe, expect, it } from '@jest/globals';
import { readLocale } from './locale.js';

describe('the language of a page', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['es-MX,es;q=0.9,en;q=0.8', 'es'],
    ['fr-FR, fr;q=0.9, de;q=0.4, en;q=0.3', 'de'],
    ['en;q=0.5, es;q=0.8, de;q=0.8', 'es'],
    ['fr', 'en'],
    ['*', 'en'],
    ['en;q=0', 'en'],
    ['de;q=0.001', 'de'],
    ['zh-Hant-TW, de-CH-1996', 'de'],
    ['; , ;;q=1, -de, d e, es;q=0.2', 'es'],
    ['constructor, __proto__', 'en'],
    [`${'fr,'.repeat(100_000)}de`, 'en'],
  ])('for the Accept-Language %.60j is %s', (header, locale) => {
    expect(readLocale({ headers: { 'accept-language': header } })).toBe(locale);
  });
});
