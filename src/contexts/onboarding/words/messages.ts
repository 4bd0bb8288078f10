import type { Locale } from '../../../platform/http/pages/locale.js';
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };

export type { Locale };

/** The texts of a language. English defines the keys. */
export type Messages = Readonly<Record<keyof typeof en, string>>;

export const MESSAGES: Readonly<Record<Locale, Messages>> = { en, es, de };

/** Keys by English text, which events contain. A changed text requires a second key for the old one. */
const KEYS = new Map(
  Object.entries(MESSAGES.en).flatMap(([key, text]) =>
    key.startsWith('reason') ? [[text, key as keyof Messages]] : [],
  ),
);

/**
 * Translates the reason of an event. A reason without a translation stays English, and becomes a general sentence in other
 * languages.
 */
export function reasonIn(locale: Locale, stage: 'kyc_failed' | 'card_failed', reason: string): string {
  const key = KEYS.get(reason);
  if (key !== undefined) return MESSAGES[locale][key];
  if (locale === 'en') return reason;
  return MESSAGES[locale][stage === 'kyc_failed' ? 'reasonOtherIdentity' : 'reasonOtherCard'];
}
