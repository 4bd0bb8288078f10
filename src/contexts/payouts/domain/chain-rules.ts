/** What it takes on a chain before an outcome is written (contract.md 10.2, 10.6). */
export interface ChainRules {
  /** {@link confirmationsOf} a transfer before it counts. */
  readonly confirmations: number;
  /** A node whose newest block is older stands still. 0: the chain mines on demand, and its blocks tell no time. */
  readonly maxHeadAgeSeconds: number;
  /** So far past the window the newest block has to be, and so far apart are the two looks that let a payout expire. */
  readonly expiryMarginSeconds: number;
}

const BY_CHAIN: ReadonlyMap<number, ChainRules> = new Map([
  [1, { confirmations: 12, maxHeadAgeSeconds: 180, expiryMarginSeconds: 60 }], // Ethereum
  [10, { confirmations: 12, maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // OP
  [8453, { confirmations: 12, maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Base
  [137, { confirmations: 50, maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Polygon
  [42161, { confirmations: 300, maxHeadAgeSeconds: 60, expiryMarginSeconds: 60 }], // Arbitrum
  [31337, { confirmations: 1, maxHeadAgeSeconds: 0, expiryMarginSeconds: 0 }], // the dev chain
]);

/** A chain that nobody measured is treated like Ethereum. */
const ELSEWHERE = 1;

/** The rules of a chain; a setting that is not null takes the place of its own. */
export function chainRules(settings: {
  readonly chainId: number;
  readonly payoutConfirmations?: number | null;
  readonly chainMaxHeadAgeSeconds?: number | null;
  readonly payoutExpiryMarginSeconds?: number | null;
}): ChainRules {
  const usual = BY_CHAIN.get(settings.chainId) ?? BY_CHAIN.get(ELSEWHERE)!;
  return {
    confirmations: settings.payoutConfirmations ?? usual.confirmations,
    maxHeadAgeSeconds: settings.chainMaxHeadAgeSeconds ?? usual.maxHeadAgeSeconds,
    expiryMarginSeconds: settings.payoutExpiryMarginSeconds ?? usual.expiryMarginSeconds,
  };
}

/** Blocks from the transfer's own to the newest one, both counted: 1 as soon as the transfer is in a block. */
export function confirmationsOf(blockNumber: number, head: number): number {
  return Math.max(0, head - blockNumber + 1);
}
