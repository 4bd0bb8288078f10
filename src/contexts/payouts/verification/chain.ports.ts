import type { ChainHeads } from '../../../platform/chain/node-state.js';
import type { TransactionReceipt } from './verification.js';

export interface TransactionRequest {
  /** An EVM hash is in lower case. */
  readonly hash: string;
  /** The possible recipients, by which the logs of a transaction with a large receipt are filtered. */
  readonly wallets: readonly string[];
  /** The merchant. Where possible, transactions of different merchants are in separate batches. */
  readonly group?: string;
}

interface ExpectedTransaction {
  readonly hash: string;
  readonly wallet?: string | null | undefined;
  readonly merchantId?: string;
}

/** Returns one request per transaction, with all of its wallets. Transactions without a wallet are omitted. */
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
  /** The receipts by hash; null when no block has the transaction. Hashes without a usable response are missing. */
  readonly receipts: ReadonlyMap<string, TransactionReceipt | null>;
  /** The reasons for missing hashes, for the log. */
  readonly refusals: readonly string[];
}

export interface ChainReader {
  /**
   * Reads transactions in batches; `separately` sends one request for each, so that none delays another. Throws
   * {@link ChainUnavailable} when each node is unavailable, on another chain, limiting the rate or stalled.
   */
  read(
    requested: readonly TransactionRequest[],
    options?: { readonly separately?: boolean },
  ): Promise<ChainObservation>;
  /**
   * Returns consistent observations, on which outcomes may rest, of at least CHAIN_QUORUM nodes. Throws as
   * {@link ChainReader.read} does.
   */
  confirm(
    requested: readonly TransactionRequest[],
    options?: { readonly separately?: boolean },
  ): Promise<readonly ChainObservation[]>;
  /**
   * Returns the reason why the contract of USDC_ADDRESS cannot be USDC, or null. Throws {@link ChainUnavailable} while no
   * node returns the contract; until then the other methods throw it too.
   */
  checkToken(): Promise<string | null>;
  /** Resolves when a node can be relied on, throws {@link ChainUnavailable} otherwise. */
  ping(): Promise<void>;
}

export const CHAIN_READER = Symbol('CHAIN_READER');

export { ChainUnavailable, NodeLimited } from '../../../platform/chain/values.js';
