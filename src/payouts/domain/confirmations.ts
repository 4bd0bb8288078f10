/** Confirmations that make a transfer final enough, by EIP-155 chain id (decisions.md, "verification window"). */
const BY_CHAIN: ReadonlyMap<number, number> = new Map([
  [1, 12], // Ethereum
  [10, 12], // OP
  [8453, 12], // Base
  [137, 50], // Polygon
  [42161, 300], // Arbitrum
  [31337, 1], // the dev chain
]);

/** A chain that nobody measured is treated like Ethereum. */
const ELSEWHERE = 12;

/** Confirmations a transfer on `chainId` needs; its own block counts as the first. */
export function requiredConfirmations(chainId: number, configured: number | null): number {
  return configured ?? BY_CHAIN.get(chainId) ?? ELSEWHERE;
}
