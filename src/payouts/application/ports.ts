import type { TransactionReceipt } from '../domain/verification.js';

/** One look at the chain. */
export interface ChainLook {
  /** Number of the newest block. */
  readonly head: number;
  /**
   * By hash: the receipt, or null when the chain has no such transaction in a block. A hash that the node gave no
   * usable answer for is missing.
   */
  readonly receipts: ReadonlyMap<string, TransactionReceipt | null>;
}

/** The chain that payouts are on, as a node tells of it. */
export interface ChainReader {
  /**
   * Looks up transactions by their lower-cased hashes, many in few round trips.
   * Throws {@link ChainUnavailable} when the node is away, is on another chain or is syncing.
   */
  look(hashes: readonly string[]): Promise<ChainLook>;
  /** Resolves when the node can be relied on, throws {@link ChainUnavailable} otherwise. */
  ping(): Promise<void>;
  close(): void;
}

/** Nest injection token of the {@link ChainReader}. */
export const CHAIN_READER = Symbol('CHAIN_READER');

/** The node cannot be relied on now. The message holds no address: those of nodes often carry keys. */
export class ChainUnavailable extends Error {
  override readonly name = 'ChainUnavailable';
}
