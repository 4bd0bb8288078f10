/** Notices by country (ISO 3166-1 alpha-2, upper case), as the file of EXCHANGE_NOTICES_FILE holds them. */
type Notices = ReadonlyMap<string, string>;

const COUNTRY = /^[A-Z]{2}$/;
const MAX_CODE_POINTS = 500;
/** Line breaks are allowed; a page shows them as spaces. */
const UNWANTED = /[^\P{Cc}\n]|\p{Cs}/u;

/** Reads `{"DE": "Not offered in Germany."}`. Throws an Error that says what is wrong. */
export function readNotices(value: unknown): Notices {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('it must hold an object of notices by country');
  const notices = Object.entries(value as Record<string, unknown>).map(([country, text]) => {
    if (!COUNTRY.test(country)) throw new Error(`${JSON.stringify(country)} is no country code such as DE`);
    if (typeof text !== 'string' || text.trim() === '')
      throw new Error(`the notice for ${country} is no text`);
    if ([...text].length > MAX_CODE_POINTS)
      throw new Error(`the notice for ${country} has more than ${MAX_CODE_POINTS} characters`);
    if (UNWANTED.test(text)) throw new Error(`the notice for ${country} holds control characters`);
    return [country, text.trim()] as const;
  });
  return new Map(notices);
}
