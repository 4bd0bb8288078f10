import type { Locale } from '../../../platform/http/pages/locale.js';
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };

export type { Locale };

/** The words of a language; English ones define the keys. */
export type Messages = Readonly<Record<keyof typeof en, string>>;

/** The words of each language that the onboarding speaks. */
export const MESSAGES: Readonly<Record<Locale, Messages>> = { en, es, de };

/** Keys by English text. Events record that text, so a change of it needs a second key for the old one. */
const KEYS = new Map(
  Object.entries(MESSAGES.en).flatMap(([key, text]) =>
    key.startsWith('reason') ? [[text, key as keyof Messages]] : [],
  ),
);

/**
 * The reason of an event in the language of the person. One that has no words here (an operator wrote it, or another version
 * did) reads as it was written in English, and is a general sentence elsewhere.
 */
export function reasonIn(locale: Locale, stage: 'kyc_failed' | 'card_failed', reason: string): string {
  const key = KEYS.get(reason);
  if (key !== undefined) return MESSAGES[locale][key];
  if (locale === 'en') return reason;
  return MESSAGES[locale][stage === 'kyc_failed' ? 'reasonOtherIdentity' : 'reasonOtherCard'];
}
