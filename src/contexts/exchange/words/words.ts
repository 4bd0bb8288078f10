import type { Locale } from '../../../platform/http/pages/locale.js';
import { de } from './de.js';
import { en, type Words } from './en.js';
import { es } from './es.js';

/** The words of the pay page in each language. */
export const WORDS: Readonly<Record<Locale, Words>> = { en, es, de };
