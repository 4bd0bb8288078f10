import { chainRules } from '../../../platform/chain/chain-rules.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { about, ConfigError, urls, urlsIn } from '../../../platform/config/settings.js';
import type { ChainNode } from '../adapters/chain-node.js';

/** Returns the options of `--rpc`, or of the first node of CHAIN_RPC_URL. Throws ConfigError without either. */
export function nodeOptions(
  config: ChainConfig,
  rpc: string | undefined,
): ConstructorParameters<typeof ChainNode>[0] {
  const given = rpc ?? config.chainRpcUrl;
  if (given === null)
    throw new ConfigError(`Give --rpc or set CHAIN_RPC_URL. ${about(chainConfig.settings.chainRpcUrl)}`);
  try {
    urls('http', 'https')(given);
  } catch (error) {
    throw new ConfigError(`--rpc ${(error as Error).message}`, { cause: error });
  }
  const { chainId, usdcAddress } = config;
  const { finality, maxHeadAgeSeconds } = chainRules(config);
  const token = usdcAddress ?? '';
  return { url: urlsIn(given)[0]!, chainId, token, finality, maxHeadAgeSeconds };
}
