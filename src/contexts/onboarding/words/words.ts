import type { Locale } from '../../../platform/http/pages/locale.js';
import { de } from './de.js';
import { en, type Words } from './en.js';
import { es } from './es.js';

export type { Locale };

/** The words of each language that the onboarding speaks. */
export const WORDS: Readonly<Record<Locale, Words>> = { en, es, de };
