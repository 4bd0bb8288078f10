import type { ChainHeads } from '../../../platform/chain/node-state.js';
import type { TransactionReceipt } from './verification.js';

export interface TransactionRequest {
  /** The transaction hash. An EVM hash is in lower case. */
  readonly hash: string;
  /** The possible recipients, which filter the logs of a transaction with a large receipt. */
  readonly wallets: readonly string[];
  /** The merchant. Transactions of different merchants are in separate batches where possible. */
  readonly group?: string;
}

interface ExpectedTransaction {
  readonly hash: string;
  readonly wallet?: string | null | undefined;
  readonly merchantId?: string;
}

/** Returns one request per transaction, with all of its wallets. Omits transactions without a wallet. */
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
  readonly node: string;
  /** The receipts by hash; null if no block has the transaction, absent without a usable response. */
  readonly receipts: ReadonlyMap<string, TransactionReceipt | null>;
  /** The reasons why `receipts` lacks hashes, for the service's log. */
  readonly refusals: readonly string[];
}

export interface ChainReader {
  /**
   * Reads transactions in batches or, if `separately`, one per request so that none delays another. Throws
   * {@link ChainUnavailable} if each node is unavailable, stalled, on another chain or limiting the rate.
   */
  read(
    requested: readonly TransactionRequest[],
    options?: { readonly separately?: boolean },
  ): Promise<ChainObservation>;
  /** Reads transactions for outcomes, from at least CHAIN_QUORUM nodes. Throws as `read` does. */
  confirm(
    requested: readonly TransactionRequest[],
    options?: { readonly separately?: boolean },
  ): Promise<readonly ChainObservation[]>;
  /**
   * Returns the reason why USDC_ADDRESS cannot be USDC, or null. Throws {@link ChainUnavailable} while no
   * node returns the contract. The other methods throw this error until the contract was found correct.
   */
  checkToken(): Promise<string | null>;
  /** Throws {@link ChainUnavailable} unless at least CHAIN_QUORUM nodes are reliable. */
  ping(): Promise<void>;
}

export const CHAIN_READER = Symbol('CHAIN_READER');

export { ChainUnavailable, NodeLimited } from '../../../platform/chain/values.js';
