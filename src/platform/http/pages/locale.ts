import type { FastifyRequest } from 'fastify';

/** Languages of all pages; English for those who ask for none of them. */
const LOCALES = ['en', 'es', 'de'] as const;
export type Locale = (typeof LOCALES)[number];

/** At most so many languages of the header are looked at. */
const MOST_RANGES = 32;
const RANGE = /^([a-z]{1,8})(?:-[a-z0-9]{1,8})*$|^\*$/;
const WEIGHT = /^q=([01](?:\.[0-9]{0,3})?)$/;

/**
 * The first of `locales` that an `Accept-Language` (RFC 9110, 12.5.4) wants most: `es-MX` gets `es`. What it does not want
 * at all (`q=0`) is given to nobody who wants another one; the first is for those who want none.
 */
export function chooseLocale<L extends string>(header: string | undefined, locales: readonly [L, ...L[]]): L {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',', MOST_RANGES)) {
    const [range = '', parameter = 'q=1'] = part.split(';').map((each) => each.trim());
    const tag = RANGE.exec(range);
    const weight = WEIGHT.exec(parameter);
    if (tag === null || weight === null) continue;
    const name = tag[1] ?? '*';
    weights.set(name, Math.max(weights.get(name) ?? 0, Math.min(1, Number(weight[1]))));
  }
  const weightOf = (locale: L): number => weights.get(locale) ?? weights.get('*') ?? 0;
  return locales.reduce((best, each) => (weightOf(each) > weightOf(best) ? each : best));
}

/** The language of the page that a browser asks for. */
export function localeOf({ headers }: Pick<FastifyRequest, 'headers'>): Locale {
  return chooseLocale<Locale>(headers['accept-language'], LOCALES);
}
