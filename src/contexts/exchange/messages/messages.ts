import type { Locale } from '../../../platform/http/pages/locale.js';
import { de } from './de.js';
import { en, type Messages } from './en.js';
import { es } from './es.js';

/** The words of the pay page in each language. */
export const MESSAGES: Readonly<Record<Locale, Messages>> = { en, es, de };
