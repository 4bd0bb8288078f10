import { expect, it } from '@jest/globals';
import { REASONS } from '../adapters/onfido/onfido-reasons.js';
import { SANDBOX_REASONS } from '../adapters/sandbox-providers.js';
import { CARD_REASONS } from '../adapters/stripe/stripe-api.js';
import { NOT_CHECKED, NOT_ISSUED } from '../application/advance-onboarding.js';
import { WORDS, reasonIn } from './words.js';

const placeholders = (text: string): string[] => (text.match(/\{[a-z_]+\}/g) ?? []).sort();

it.each(Object.entries(WORDS))('%s has all words, with the same placeholders as English', (_, words) => {
  expect(Object.keys(words).sort()).toEqual(Object.keys(WORDS.en).sort());
  for (const [key, english] of Object.entries(WORDS.en))
    expect([key, placeholders(words[key as keyof typeof words])]).toEqual([key, placeholders(english)]);
});

const IDENTITY = [...Object.values(REASONS), NOT_CHECKED, SANDBOX_REASONS.identity];
const CARD = [...Object.values(CARD_REASONS), NOT_ISSUED, SANDBOX_REASONS.card];

it.each([...IDENTITY, ...CARD])('%j has words in every language', (reason) => {
  const stage = IDENTITY.some((each) => each === reason) ? 'kyc_failed' : 'card_failed';
  expect(reasonIn('en', stage, reason)).toBe(reason);
  for (const locale of ['es', 'de'] as const) {
    const { reasonOtherIdentity, reasonOtherCard } = WORDS[locale];
    expect([reason, reasonOtherIdentity, reasonOtherCard]).not.toContain(reasonIn(locale, stage, reason));
  }
});

it('a reason without a translation is itself in English, and a general sentence in other languages', () => {
  expect(reasonIn('en', 'kyc_failed', 'A drawing')).toBe('A drawing');
  expect(reasonIn('es', 'kyc_failed', 'A drawing')).toBe(WORDS.es.reasonOtherIdentity);
  expect(reasonIn('de', 'card_failed', 'constructor')).toBe(WORDS.de.reasonOtherCard);
});
