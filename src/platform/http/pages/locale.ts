import type { FastifyRequest } from 'fastify';
import type { Page } from '../listeners.js';

export type Locale = keyof Page['messages'];

const LOCALES: readonly Locale[] = ['en', 'es', 'de'];
const MAX_RANGES = 32;

/** Returns the locale of the highest weight in `Accept-Language` (RFC 9110, 12.5.4). `es-MX` matches `es`. */
export function readLocale({ headers }: Pick<FastifyRequest, 'headers'>): Locale {
  const parts = (headers['accept-language'] ?? '').toLowerCase().split(',', MAX_RANGES);
  const ranges = parts.map((part) => {
    const [range = '', parameter = 'q=1'] = part.split(';').map((each) => each.trim());
    const locale = LOCALES.find((each) => range.split('-')[0] === each);
    return { locale, weight: Number(/^q=([\d.]+)$/.exec(parameter)?.[1] ?? 0) };
  });
  const known = ranges.filter(({ locale, weight }) => locale !== undefined && weight > 0);
  return known.sort((a, b) => b.weight - a.weight)[0]?.locale ?? 'en';
}
