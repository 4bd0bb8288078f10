import { readFileSync } from 'node:fs';
import {
  ConfigError,
  anInteger,
  anyOf,
  optional,
  pattern,
  setting,
  anyText,
  url,
  type Parser,
  defineConfig,
} from '../../platform/config/settings.js';
import type { ChainConfig } from '../../platform/config/config.js';
import { readOnramps } from './providers/onramps.service.js';

/** Returns a parser of JSON files; `form` describes the content in errors. Any fault stops the boot. */
function jsonFile<T>(form: string, read: (value: unknown) => T): Parser<T> {
  return (path) => {
    try {
      return read(JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      throw new Error(`${form} (${(error as Error).message})`, { cause: error });
    }
  };
}

const COUNTRY = /^[A-Z]{2}$/;
const MAX_NOTICE = 500;

/** Reads notices by country (ISO 3166-1 alpha-2). Throws an Error that describes the first fault. */
function readNotices(value: unknown): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('the file must hold an object of notices by country');
  const notices = Object.entries(value as Record<string, unknown>).map(([country, text]) => {
    if (!COUNTRY.test(country)) throw new Error(`${JSON.stringify(country)} is no country code such as DE`);
    if (typeof text !== 'string' || text.trim() === '')
      throw new Error(`the notice for ${country} is no text`);
    if ([...text].length > MAX_NOTICE)
      throw new Error(`the notice for ${country} has more than ${MAX_NOTICE} characters`);
    return [country, text.trim()] as const;
  });
  return new Map(notices);
}

/** The only chain whose tokens are test money. */
export const DEV_CHAIN_ID = 31337;

export const exchangeConfig = defineConfig('exchange', {
  exchangeProvider: optional(
    anyOf('sandbox', 'sideshift'),
    'the provider that new exchange orders go to. Not set: in the sandbox its own, in production none, and no order can be created.',
  ),
  exchangeProviderCallsPerMinute: optional(
    anInteger(1, 1_000_000),
    'requests per minute and key, in each process, that make the exchange provider work; one client has a fifth of it. Not set: five times RATE_LIMIT_PER_MINUTE.',
  ),
  sideshiftSecret: optional(
    pattern(/^[!-~]{8,200}$/, 'the private key of a SideShift account, without spaces'),
    'the private key of the SideShift account; keep it set while orders that were created there are polled.',
    'secret',
  ),
  sideshiftAffiliateId: optional(
    pattern(/^[A-Za-z0-9]{4,40}$/, 'the id of a SideShift account'),
    'the id of the SideShift account.',
  ),
  sideshiftUrl: setting(
    url('http', 'https'),
    'https://sideshift.ai/api/v2',
    'where SideShift has its API, version 2. HTTPS in production.',
  ),
  exchangeOrderExpirySeconds: setting(
    anInteger(1, 604_800),
    3600,
    'how long an exchange order waits for its deposit; less when the provider holds the quote for less.',
  ),
  exchangePaidWaitSeconds: setting(
    anInteger(1, 2_592_000),
    86_400,
    'how long an exchange order that was marked as paid waits for its deposit.',
  ),
  exchangeCheckIntervalMs: setting(
    anInteger(50, 3_600_000),
    1000,
    'how often a fresh exchange order is polled at its provider, in milliseconds; older ones more rarely.',
  ),
  exchangeNoticesFile: optional(
    jsonFile('a JSON file of notices by country, such as {"DE": "Not offered in Germany."}', readNotices),
    'a file of the notices that callers see by the country of their address; no notices when not set.',
  ),
  exchangeCountriesFile: optional(
    anyText,
    "a file of countries by address in MaxMind's DB format, in place of the one that ships with the service.",
  ),
  exchangeOnrampsFile: optional(
    jsonFile('a JSON file of on-ramps', readOnramps),
    'a file of the on-ramp providers that are displayed; none when not set, examples in the sandbox.',
  ),
  exchangeScanIntervalMs: setting(
    anInteger(20, 3_600_000),
    1000,
    'how often the chain is scanned for deposits.',
  ),
  exchangeSettleMs: setting(anInteger(0, 3_600_000), 2000, 'how long the sandbox takes to pay out.'),
  payFramedBy: setting(
    origins,
    [],
    'the origins, separated by commas, whose pages may show the pay page in a frame; none may when not set.',
  ),
});

export type ExchangeConfig = ReturnType<typeof exchangeConfig>;

export function checkExchangeSettings(config: ExchangeConfig & ChainConfig): void {
  const { mode, exchangeProvider, sideshiftSecret, sideshiftAffiliateId, sideshiftUrl } = config;
  if (mode === 'production' && exchangeProvider === 'sandbox')
    throw new ConfigError('EXCHANGE_PROVIDER must not be sandbox in production: it moves no real money.');
  if (exchangeProvider === 'sandbox' && config.chainId !== DEV_CHAIN_ID)
    throw new ConfigError(
      `EXCHANGE_PROVIDER must not be sandbox with CHAIN_ID ${config.chainId}: the sandbox accepts only test money of the dev chain (${DEV_CHAIN_ID}).`,
    );
  if ((sideshiftSecret === null) !== (sideshiftAffiliateId === null))
    throw new ConfigError('SIDESHIFT_SECRET and SIDESHIFT_AFFILIATE_ID must be set together.');
  if (exchangeProvider === 'sideshift' && sideshiftSecret === null)
    throw new ConfigError('SIDESHIFT_SECRET must be set where EXCHANGE_PROVIDER is sideshift.');
  // The secret is sent in a header, so the connection must be encrypted.
  if (mode === 'production' && sideshiftSecret !== null && !sideshiftUrl.startsWith('https://'))
    throw new ConfigError('SIDESHIFT_URL must begin with https:// in production.');
}

function origins(text: string): readonly string[] {
  const all = text.split(',').map((each) => each.trim());
  if (all.every((each) => URL.canParse(each) && new URL(each).origin === each)) return all;
  throw new Error('origins such as https://shop.example, separated by commas');
}
