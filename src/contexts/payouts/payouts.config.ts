import type { ChainConfig } from '../../platform/config/config.js';
import { ConfigError, anInteger, setting, urlsIn, defineConfig } from '../../platform/config/settings.js';

export const payoutsConfig = defineConfig('payouts', {
  payoutVerificationWindowSeconds: setting(
    anInteger(1, 31_536_000),
    86_400,
    'how long a payout may wait for its transfer.',
  ),
  payoutCheckIntervalMs: setting(
    anInteger(50, 3_600_000),
    1000,
    'how often pending payouts are checked on the chain.',
  ),
});

export type PayoutsConfig = ReturnType<typeof payoutsConfig>;

export function checkPayoutSettings(config: ChainConfig): void {
  const { chainRpcUrl, chainQuorum } = config;
  const nodes = chainRpcUrl === null ? 1 : new Set(urlsIn(chainRpcUrl)).size;
  if (chainQuorum > nodes) {
    throw new ConfigError(
      `CHAIN_QUORUM (${chainQuorum}) must be no larger than the number of nodes in CHAIN_RPC_URL (${nodes}): no payout would ever be received.`,
    );
  }
}
