import type { Locale } from '../../../platform/http/pages/locale.js';
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };

export type { Locale };

export type Messages = Readonly<Record<keyof typeof en, string>>;

export const MESSAGES: Readonly<Record<Locale, Messages>> = { en, es, de };

/** The keys by English text, which events contain. A changed text needs a second key for the old text. */
const KEYS = new Map(
  Object.entries(MESSAGES.en).flatMap(([key, text]) =>
    key.startsWith('reason') ? [[text, key as keyof Messages]] : [],
  ),
);

/** Translates the reason of an event. Other languages replace an unknown reason by a general sentence. */
export function reasonIn(locale: Locale, stage: 'kyc_failed' | 'card_failed', reason: string): string {
  const key = KEYS.get(reason);
  if (key !== undefined) return MESSAGES[locale][key];
  if (locale === 'en') return reason;
  return MESSAGES[locale][stage === 'kyc_failed' ? 'reasonOtherIdentity' : 'reasonOtherCard'];
}
