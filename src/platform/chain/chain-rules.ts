import type { Finality } from '../config/config.js';

/** The conditions on a chain for recording an outcome (contract.md 10.2, 10.6). */
export interface ChainRules {
  readonly finality: Finality;
  /** A node whose newest block is older is stalled. 0: the chain mines on demand, and the times of its blocks mean nothing. */
  readonly maxHeadAgeSeconds: number;
  /** So far past the window the newest final block has to be, and so far apart are the two checks that let a payout expire. */
  readonly expiryMarginSeconds: number;
}

/** The rules by chain id. On a rollup `safe` is required: the chain below holds the data of these blocks. */
const BY_CHAIN: ReadonlyMap<number, ChainRules> = new Map([
  [1, { finality: 'safe', maxHeadAgeSeconds: 180, expiryMarginSeconds: 60 }], // Ethereum
  [10, { finality: 'safe', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // OP
  [8453, { finality: 'safe', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Base
  [137, { finality: 'finalized', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Polygon
  [42161, { finality: 'safe', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Arbitrum
  [31337, { finality: 1, maxHeadAgeSeconds: 0, expiryMarginSeconds: 0 }], // the dev chain
]);

/** An unknown chain is treated like Ethereum. */
const ELSEWHERE = 1;

/** The rules of a chain; a setting that is not null replaces the one of the chain. */
export function chainRules(settings: {
  readonly chainId: number;
  readonly payoutFinality?: Finality | null;
  readonly chainMaxHeadAgeSeconds?: number | null;
  readonly payoutExpiryMarginSeconds?: number | null;
}): ChainRules {
  const usual = BY_CHAIN.get(settings.chainId) ?? BY_CHAIN.get(ELSEWHERE)!;
  return {
    finality: settings.payoutFinality ?? usual.finality,
    maxHeadAgeSeconds: settings.chainMaxHeadAgeSeconds ?? usual.maxHeadAgeSeconds,
    expiryMarginSeconds: settings.payoutExpiryMarginSeconds ?? usual.expiryMarginSeconds,
  };
}
