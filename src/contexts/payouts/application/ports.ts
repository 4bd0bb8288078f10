import type { ChainHeads } from '../../../platform/chain/node-state.js';
import type { TransactionReceipt } from '../domain/verification.js';

export interface TransactionRequest {
  /** Lower-cased when EVM. */
  readonly hash: string;
  /** Whom it may have paid: all that is requested when its receipt is too large. */
  readonly wallets: readonly string[];
  /** The merchant: where possible, transactions of different merchants are requested apart. */
  readonly group?: string;
}

interface ExpectedTransaction {
  readonly hash: string;
  readonly wallet?: string | null | undefined;
  readonly merchantId?: string;
}

/** Groups the wallets by transaction, so that each transaction is requested once. One without a wallet is left out. */
export function requestedTransactions(
  expected: readonly ExpectedTransaction[],
): readonly TransactionRequest[] {
  const requested = new Map<string, TransactionRequest & { readonly wallets: string[] }>();
  for (const { hash, wallet, merchantId } of expected) {
    if (!wallet) continue;
    const known = requested.get(hash);
    if (known === undefined)
      requested.set(hash, { hash, wallets: [wallet], ...(merchantId && { group: merchantId }) });
    else if (!known.wallets.includes(wallet)) known.wallets.push(wallet);
  }
  return [...requested.values()];
}

export interface ChainObservation extends ChainHeads {
  /** The host of the node that was read. */
  readonly node: string;
  /**
   * By hash: the receipt, or null when the chain has no such transaction in a block. A hash that the node gave no
   * usable response for is missing.
   */
  readonly receipts: ReadonlyMap<string, TransactionReceipt | null>;
  /** The reasons for missing hashes, for the log. */
  readonly refusals: readonly string[];
}

export interface ChainReader {
  /**
   * Reads transactions, many in few round trips; `separately` sends one request for each, so that none delays another.
   * Throws {@link ChainUnavailable} when no node can be relied on: unavailable, on another chain, limiting the rate, or stalled.
   */
  read(
    requested: readonly TransactionRequest[],
    options?: { readonly separately?: boolean },
  ): Promise<ChainObservation>;
  /**
   * Observations that outcomes may rest on, one per node: nothing in them is contradicted by another response of that
   * node. There are at least CHAIN_QUORUM of them. Throws as {@link ChainReader.read} does.
   */
  confirm(
    requested: readonly TransactionRequest[],
    options?: { readonly separately?: boolean },
  ): Promise<readonly ChainObservation[]>;
  /**
   * Why the contract of USDC_ADDRESS cannot be USDC; null when it can. Throws {@link ChainUnavailable} while no node that can
   * be relied on returns it: until then the methods above and `ping` throw it too.
   */
  checkToken(): Promise<string | null>;
  /** Resolves when a node can be relied on, throws {@link ChainUnavailable} otherwise. */
  ping(): Promise<void>;
  close(): void;
}

export const CHAIN_READER = Symbol('CHAIN_READER');

export { ChainUnavailable, NodeLimited } from '../../../platform/chain/values.js';
