// Where the commands get the keys of a merchant from, and the client that signs with them.
import { Disburse } from '@disburse/sdk';
import { findSandbox, nearestDataDir } from './running-sandbox.mjs';
import { Usage } from './usage.mjs';

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
 * `{baseUrl, apiKey, privateKey, widgetUrl}` by the options, else the environment, else the sandbox that runs; null when
 * there is none of them.
 */
export async function findKeys(options, environment = process.env) {
  // What is given as an option is not mixed with keys of another service.
  const env = options.dataDir === undefined ? environment : {};
  const apiKey = options.apiKey ?? env.DISBURSE_API_KEY ?? env.SVC_API_KEY ?? null;
  const privateKey = options.privateKey ?? env.DISBURSE_PRIVATE_KEY ?? env.SVC_PRIVATE_KEY ?? null;
  const baseUrl = options.url ?? env.DISBURSE_BASE_URL ?? null;
  const widgetUrl = options.widgetUrl ?? env.DISBURSE_WIDGET_URL ?? null;
  if ((apiKey === null) !== (privateKey === null))
    throw new Usage('--api-key and --private-key belong together.');
  if (baseUrl !== null && !/^https?:$/.test(protocolOf(baseUrl)))
    throw new Usage('--url must be a URL that begins with http:// or https://.');
  if (baseUrl !== null && apiKey === null)
    throw new Usage('--url needs --api-key and --private-key of a merchant there.');
  if (baseUrl !== null) return { baseUrl, apiKey, privateKey, widgetUrl };
  const sandbox = await findSandbox(dataDirOf(options, env));
  if (sandbox === null) return null;
  return {
    baseUrl: sandbox.base_url,
    apiKey: apiKey ?? sandbox.merchant.api_key,
    privateKey: privateKey ?? sandbox.merchant.private_key,
    widgetUrl: widgetUrl ?? sandbox.widget_url ?? null,
  };
}

/** Like {@link findKeys}; throws where there are none. `otherWay` ends the sentence. */
export async function requireKeys(options, otherWay = '') {
  const keys = await findKeys(options);
  if (keys !== null) return keys;
  throw new Usage(
    `No sandbox is running in ${dataDirOf(options)}. Start one with npm start, or set DISBURSE_BASE_URL, DISBURSE_API_KEY and DISBURSE_PRIVATE_KEY${otherWay}.`,
  );
}

export function dataDirOf({ dataDir }, env = process.env) {
  return nearestDataDir(dataDir === undefined ? env : { DATA_DIR: dataDir });
}

export function clientOf(keys) {
  return new Disburse({ ...keys, attempts: ATTEMPTS });
}

function protocolOf(address) {
  return URL.canParse(address) ? new URL(address).protocol : '';
}
