import { expect, it } from '@jest/globals';
import { MESSAGES, reasonIn } from './messages.js';

it.each(Object.entries(MESSAGES.en).filter(([key]) => /^reason(?!Other)/.test(key)))(
  'the %s of a failure is translated into every language from the English text of the event',
  (key, reason) => {
    for (const locale of ['en', 'es', 'de'] as const)
      expect(reasonIn(locale, 'kyc_failed', reason)).toBe(MESSAGES[locale][key as keyof typeof MESSAGES.en]);
    expect(MESSAGES.es[key as keyof typeof MESSAGES.en]).not.toBe(reason);
  },
);

it('a reason without a translation is unchanged in English and a general sentence in other languages', () => {
  expect(reasonIn('en', 'kyc_failed', 'A drawing')).toBe('A drawing');
  expect(reasonIn('es', 'kyc_failed', 'A drawing')).toBe(MESSAGES.es.reasonOtherIdentity);
  expect(reasonIn('de', 'card_failed', 'constructor')).toBe(MESSAGES.de.reasonOtherCard);
});
