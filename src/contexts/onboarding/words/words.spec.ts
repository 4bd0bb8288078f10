import { expect, it } from '@jest/globals';
import { WORDS, reasonIn } from './words.js';

const placeholders = (text: string): string[] => (text.match(/\{[a-z_]+\}/g) ?? []).sort();

it.each(Object.entries(WORDS))('%s has all words, with the same placeholders as English', (_, words) => {
  expect(Object.keys(words).sort()).toEqual(Object.keys(WORDS.en).sort());
  for (const [key, english] of Object.entries(WORDS.en))
    expect([key, placeholders(words[key as keyof typeof words])]).toEqual([key, placeholders(english)]);
});

it.each(Object.entries(WORDS.en).filter(([key]) => /^reason(?!Other)/.test(key)))(
  '%s is read in every language, from the English text of an event',
  (key, reason) => {
    for (const locale of ['en', 'es', 'de'] as const)
      expect(reasonIn(locale, 'kyc_failed', reason)).toBe(WORDS[locale][key as keyof typeof WORDS.en]);
    expect(WORDS.es[key as keyof typeof WORDS.en]).not.toBe(reason);
  },
);

it('a reason without a translation is itself in English, and a general sentence in other languages', () => {
  expect(reasonIn('en', 'kyc_failed', 'A drawing')).toBe('A drawing');
  expect(reasonIn('es', 'kyc_failed', 'A drawing')).toBe(WORDS.es.reasonOtherIdentity);
  expect(reasonIn('de', 'card_failed', 'constructor')).toBe(WORDS.de.reasonOtherCard);
});
