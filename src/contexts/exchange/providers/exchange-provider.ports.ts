import type { Observation } from '../watch/observation.js';
import type { DepositFacts, OrderFacts, OrderRequest, ProviderOrder, Quote } from '../orders/order-events.js';

/** Rates, liquidity and settlement of exchanges. Amounts are decimal strings in whole units of a token. */
export interface ExchangeProvider {
  /** The name of the provider, which each order stores: a provider keeps its orders when another one is configured. */
  readonly name: string;

  readonly pairIds: readonly string[];

  /**
   * Returns the current price of the pair. A null `amountFrom` means the pair's default amount. Throws DomainError
   * `validation_failed` for an amount outside the limits, and {@link ProviderUnavailable} if the price is unknown.
   */
  readonly quote: (pairId: string, amountFrom: string | null) => Promise<Quote>;

  /**
   * Opens an order at the provider. Two calls with one `order_id` may open two: the one that is not stored stays unpaid,
   * because its address is never displayed. Throws {@link ProviderRefused} for an order that it will never accept,
   * {@link ProviderUnavailable} when the result is unknown.
   */
  readonly create: (order: NewProviderOrder) => Promise<ProviderOrder>;

  /**
   * Returns the status of an order. `recorded` contains the deposits of earlier statuses. A provider with an
   * append-only list throws if one is missing. Throws {@link ProviderUnavailable}.
   */
  readonly status: (order: AgreedOrder, recorded?: readonly DepositFacts[]) => Promise<ProviderStatus>;

  /**
   * Requests the payout of `amount_to` after an accepted deposit; no effect where the provider processes deposits
   * automatically. May be repeated; `status` returns the outcome. Throws {@link ProviderUnavailable}.
   */
  readonly settle: (order: AgreedOrder) => Promise<void>;

  /** Stops the processing of later deposits. May be repeated. Throws {@link ProviderUnavailable}. */
  readonly cancel: (order: AgreedOrder) => Promise<void>;
}

/** The terms of an order, as its events store them. */
export type AgreedOrder = ProviderOrder & Pick<OrderFacts, 'order_id' | 'pair_id' | 'withdraw_address'>;

export interface NewProviderOrder extends Omit<OrderRequest, 'key_id' | 'merchant_id' | 'user_id'> {
  readonly order_id: string;
  /** The amount; null for the pair's default. */
  readonly amount_from: string | null;
  /** The network address of the caller, for providers that require it; never stored. */
  readonly caller_address?: string;
}

export type ProviderStatus = Omit<Observation, 'at' | 'hasForeignDeposit'>;

/** Nest injection token of the sandbox's {@link ExchangeProvider}; there is none in production. */
export const SANDBOX_PROVIDER = Symbol('SANDBOX_PROVIDER');

/** Sends test USDC on the dev chain; the sandbox provides it, and nothing does in production. */
export interface TestMoney {
  /** Returns the hash of the transaction. `amount` is in minor units. Throws `unavailable`. */
  transfer(to: string, amount: bigint): Promise<string>;
}

export const TEST_MONEY = Symbol('TEST_MONEY');
