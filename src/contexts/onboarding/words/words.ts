import type { Locale } from '../../../platform/http/pages/locale.js';
import { de } from './de.js';
import { en, type Words } from './en.js';
import { es } from './es.js';

export type { Locale };

/** The words of each language that the onboarding speaks. */
export const WORDS: Readonly<Record<Locale, Words>> = { en, es, de };

type ReasonKey = Extract<keyof Words, `reason${string}`>;

/** What events say in English, and by which words the page says it. */
const KEYS: ReadonlyMap<string, ReasonKey> = new Map(
  Object.entries(WORDS.en).flatMap(([key, text]) => (isReason(key) ? [[text, key] as const] : [])),
);

/**
 * The reason of an event in the language of the person. One that has no words here (an operator wrote it, or another version
 * did) reads as it was written in English, and is a general sentence elsewhere.
 */
export function reasonIn(locale: Locale, stage: 'kyc_failed' | 'card_failed', reason: string): string {
  const key = KEYS.get(reason);
  if (key !== undefined) return WORDS[locale][key];
  if (locale === 'en') return reason;
  return WORDS[locale][stage === 'kyc_failed' ? 'reasonOtherIdentity' : 'reasonOtherCard'];
}

function isReason(key: string): key is ReasonKey {
  return key.startsWith('reason');
}
