import { expect, it } from '@jest/globals';
import { REASONS } from '../adapters/onfido/onfido-reasons.js';
import { SANDBOX_REASONS } from '../adapters/sandbox-providers.js';
import { CARD_REASONS } from '../adapters/stripe/stripe-errors.js';
import { NOT_CHECKED, NOT_ISSUED } from '../application/give-up.js';
import { reasonIn } from './reasons.js';
import { WORDS } from './words.js';

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

it('a reason that nobody translated reads as it was written in English, and is a general sentence elsewhere', () => {
  expect(reasonIn('en', 'kyc_failed', 'A drawing')).toBe('A drawing');
  expect(reasonIn('es', 'kyc_failed', 'A drawing')).toBe(WORDS.es.reasonOtherIdentity);
  expect(reasonIn('de', 'card_failed', 'constructor')).toBe(WORDS.de.reasonOtherCard);
});
