import type { FastifyRequest } from 'fastify';
import type { Page } from '../listeners.js';

/** The languages of all pages; the first is the default. */
const LOCALES = ['en', 'es', 'de'] as const satisfies readonly Locale[];
export type Locale = keyof Page['messages'];

const MAX_RANGES = 32;
const RANGE = /^([a-z]{1,8})(?:-[a-z0-9]{1,8})*$|^\*$/;
const WEIGHT = /^q=([01](?:\.[0-9]{0,3})?)$/;

/** Returns the locale with the highest weight in the `Accept-Language` (RFC 9110, 12.5.4). `es-MX` matches `es`. */
export function readLocale({ headers }: Pick<FastifyRequest, 'headers'>): Locale {
  const weights = new Map<string, number>();
  for (const part of (headers['accept-language'] ?? '').toLowerCase().split(',', MAX_RANGES)) {
    const [range = '', parameter = 'q=1'] = part.split(';').map((each) => each.trim());
    const tag = RANGE.exec(range);
    const weight = WEIGHT.exec(parameter);
    if (tag === null || weight === null) continue;
    const name = tag[1] ?? '*';
    weights.set(name, Math.max(weights.get(name) ?? 0, Math.min(1, Number(weight[1]))));
  }
  const findWeight = (locale: Locale): number => weights.get(locale) ?? weights.get('*') ?? 0;
  return LOCALES.reduce<Locale>(
    (best, each) => (findWeight(each) > findWeight(best) ? each : best),
    LOCALES[0],
  );
}
