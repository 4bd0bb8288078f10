import { finality } from '../../platform/chain/chain-rules.js';
import type { Config } from '../../platform/config/config.js';
import {
  ConfigError,
  anInteger,
  neededInProduction,
  optional,
  pattern,
  setting,
  urls,
  urlsIn,
  type SettingsOf,
} from '../../platform/config/settings.js';

/** Where payouts are verified, and what it takes before one is received or expired. */
export const PAYOUT_SETTINGS = {
  chainRpcUrl: optional(
    'CHAIN_RPC_URL',
    urls('http', 'https'),
    'the JSON-RPC node of the chain, or several separated by commas: the next one is used while one is unavailable.',
    true,
  ),
  chainQuorum: setting(
    'CHAIN_QUORUM',
    anInteger(1, 10),
    1,
    'how many of these nodes have to agree before a payout is received or expired.',
  ),
  chainMaxHeadAgeSeconds: optional(
    'CHAIN_MAX_HEAD_AGE_SECONDS',
    anInteger(0, 86_400),
    'how old the newest block of a node may be; by chain when not set. 0: the chain mines on demand, its blocks have no meaningful time.',
  ),
  chainId: setting(
    'CHAIN_ID',
    anInteger(1, Number.MAX_SAFE_INTEGER),
    31337,
    'the chain that payouts are on.',
  ),
  usdcAddress: optional(
    'USDC_ADDRESS',
    pattern(/^0x[0-9a-f]{40}$/i, 'an address of 40 hexadecimal digits after 0x'),
    'the USDC contract on the chain; the boot ends when it is no contract, or one with other than six decimals.',
  ),
  payoutVerificationWindowSeconds: setting(
    'PAYOUT_VERIFICATION_WINDOW_SECONDS',
    anInteger(1, 31_536_000),
    86_400,
    'how long a payout may wait for its transfer.',
  ),
  payoutFinality: optional(
    'PAYOUT_FINALITY',
    finality,
    'from when on a transfer counts: from the head on that the chain calls safe or finalized, or after a number of confirmations, the block it is in being the first; by chain when not set. Deposits of orders follow it too.',
  ),
  payoutExpiryMarginSeconds: optional(
    'PAYOUT_EXPIRY_MARGIN_SECONDS',
    anInteger(0, 86_400),
    'how far past the window the newest final block has to be, and how far apart the two observations that let a payout expire; by chain when not set.',
  ),
  payoutCheckIntervalMs: setting(
    'PAYOUT_CHECK_INTERVAL_MS',
    anInteger(50, 3_600_000),
    1000,
    'how often pending payouts are checked on the chain.',
  ),
};

declare module '../../platform/config/config.js' {
  interface Config extends SettingsOf<typeof PAYOUT_SETTINGS> {}
}

export function checkPayoutSettings(config: Config): void {
  const { chainRpcUrl, chainQuorum } = config;
  const nodes = chainRpcUrl === null ? 1 : new Set(urlsIn(chainRpcUrl)).size;
  if (chainQuorum > nodes) {
    throw new ConfigError(
      `CHAIN_QUORUM (${chainQuorum}) must be no larger than the number of nodes in CHAIN_RPC_URL (${nodes}): no payout would ever be received.`,
    );
  }
  neededInProduction(config, {
    chainRpcUrl: PAYOUT_SETTINGS.chainRpcUrl,
    usdcAddress: PAYOUT_SETTINGS.usdcAddress,
  });
}
