// The lookup of a merchant's keys, and the client that signs with them.
import { Disburse, DisburseExchange } from '@disburse/sdk';
import { findSandbox, nearestDataDir } from './running-sandbox.mjs';
import { Unreachable, Usage } from './usage.mjs';

/** A person waits: fewer attempts than a backend has. */
const ATTEMPTS = 3;

/** Adds the options that say which service and merchant, under a heading of their own. */
export function withCredentials(command) {
  return command
    .optionsGroup('Where:')
    .option('--data-dir <folder>', 'the sandbox that runs there (DATA_DIR); default: .sandbox, here or above')
    .option('--url <base url>', 'another service, with both keys (DISBURSE_BASE_URL)')
    .option('--api-key <uuid>', 'another merchant (DISBURSE_API_KEY)')
    .option('--private-key <key>', 'its private key (DISBURSE_PRIVATE_KEY, which ps does not display)')
    .optionsGroup('Options:');
}

/**
 * Returns `{baseUrl, apiKey, privateKey, widgetUrl, exchange}` from the options, else the environment, else the running
 * sandbox, else null. `exchange`: `{apiKey, secret}` of the exchange, or null.
 */
export async function findKeys(options, environment = process.env) {
  // Keys of another service in the environment must not mix with an option.
  const env = options.dataDir === undefined ? environment : {};
  const apiKey = options.apiKey ?? env.DISBURSE_API_KEY ?? env.SVC_API_KEY ?? null;
  const privateKey = options.privateKey ?? env.DISBURSE_PRIVATE_KEY ?? env.SVC_PRIVATE_KEY ?? null;
  const baseUrl = options.url ?? env.DISBURSE_BASE_URL ?? null;
  const widgetUrl = options.widgetUrl ?? env.DISBURSE_WIDGET_URL ?? null;
  const exchange = exchangeKeyOf(options, env);
  if ((apiKey === null) !== (privateKey === null))
    throw new Usage('--api-key and --private-key belong together.');
  if (baseUrl !== null && !/^https?:$/.test(protocolOf(baseUrl)))
    throw new Usage('--url must be a URL that begins with http:// or https://.');
  if (baseUrl !== null && apiKey === null)
    throw new Usage('--url needs --api-key and --private-key of a merchant there.');
  if (baseUrl !== null) return { baseUrl, apiKey, privateKey, widgetUrl, exchange };
  const sandbox = await findSandbox(dataDirOf(options, env));
  if (sandbox === null) return null;
  const { merchant } = sandbox;
  const isFirstMerchant = apiKey === null || apiKey === merchant.api_key;
  return {
    baseUrl: sandbox.base_url,
    apiKey: apiKey ?? merchant.api_key,
    privateKey: privateKey ?? merchant.private_key,
    widgetUrl: widgetUrl ?? sandbox.widget_url ?? null,
    exchange: exchange ?? (isFirstMerchant ? exchangeKeyIn(sandbox) : null),
  };
}

function exchangeKeyOf({ exchangeKey, exchangeSecret }, env) {
  const apiKey = exchangeKey ?? env.DISBURSE_EXCHANGE_API_KEY ?? null;
  const secret = exchangeSecret ?? env.DISBURSE_EXCHANGE_SECRET;
  return apiKey === null ? null : { apiKey, secret };
}

/** The key of the first merchant that demands signatures. */
function exchangeKeyIn({ exchange: { api_key: apiKey, secret } }) {
  return { apiKey, secret };
}

/** Like {@link findKeys}; throws where there are none. `otherWay` ends the sentence. */
export async function requireKeys(options, otherWay = '') {
  const keys = await findKeys(options);
  if (keys !== null) return keys;
  throw new Unreachable(
    `No sandbox is running in ${dataDirOf(options)}. Start one with npm start, name the .sandbox folder of one with --data-dir, or set DISBURSE_BASE_URL, DISBURSE_API_KEY and DISBURSE_PRIVATE_KEY${otherWay}.`,
  );
}

export function dataDirOf({ dataDir }, env = process.env) {
  return nearestDataDir(dataDir === undefined ? env : { DATA_DIR: dataDir });
}

export function clientOf(keys) {
  return new Disburse({ ...keys, attempts: ATTEMPTS });
}

/** Throws where there is no key of the exchange. */
export function exchangeClientOf({ baseUrl, exchange }) {
  if (exchange !== null) return new DisburseExchange({ baseUrl, ...exchange, attempts: ATTEMPTS });
  throw new Usage(
    'Orders need a key of the exchange: --exchange-key and --exchange-secret, or DISBURSE_EXCHANGE_API_KEY and DISBURSE_EXCHANGE_SECRET.',
  );
}

function protocolOf(address) {
  return URL.canParse(address) ? new URL(address).protocol : '';
}
