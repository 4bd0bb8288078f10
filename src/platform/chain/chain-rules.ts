import type { ChainConfig, Finality } from '../config/config.js';

/** The conditions under which a chain decides the outcome of a payout (contract.md 10.2, 10.6). */
export interface ChainRules {
  readonly finality: Finality;
  /** The maximum age of a node's newest block; 0 disables the check, for chains that mine on demand. */
  readonly maxHeadAgeSeconds: number;
  /** The wait after a payout's window before it may expire; also the minimum time between two checks. */
  readonly expiryMarginSeconds: number;
}

/** The rules by chain id. The data of a rollup's `safe` blocks is published on its parent chain. */
const BY_CHAIN: ReadonlyMap<number, ChainRules> = new Map([
  [1, { finality: 'safe', maxHeadAgeSeconds: 180, expiryMarginSeconds: 60 }], // Ethereum
  [10, { finality: 'safe', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // OP
  [8453, { finality: 'safe', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Base
  [137, { finality: 'finalized', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Polygon
  [42161, { finality: 'safe', maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Arbitrum
  [31337, { finality: 1, maxHeadAgeSeconds: 0, expiryMarginSeconds: 0 }], // the dev chain
]);

/** The chain whose rules apply to unknown chains. */
const ELSEWHERE = 1;

/** Returns the rules of a chain. A setting that is not null replaces its rule. */
export function chainRules(settings: ChainConfig): ChainRules {
  const usual = BY_CHAIN.get(settings.chainId) ?? BY_CHAIN.get(ELSEWHERE)!;
  return {
    finality: settings.payoutFinality ?? usual.finality,
    maxHeadAgeSeconds: settings.chainMaxHeadAgeSeconds ?? usual.maxHeadAgeSeconds,
    expiryMarginSeconds: settings.payoutExpiryMarginSeconds ?? usual.expiryMarginSeconds,
  };
}
