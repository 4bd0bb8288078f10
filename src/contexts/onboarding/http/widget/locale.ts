import type { FastifyRequest } from 'fastify';
import { chooseLocale } from '../../../../platform/http/pages/locale.js';
import type { Locale } from '../../words/words.js';

/** The language that a browser wants; English for whoever wants none of those that the onboarding speaks. */
export function localeOf({ headers }: Pick<FastifyRequest, 'headers'>): Locale {
  return chooseLocale<Locale>(headers['accept-language'], ['en', 'es', 'de']);
}
