import type { Observation } from '../watch/observation.js';
import type { DepositFacts, OrderFacts, OrderRequest, ProviderOrder, Quote } from '../orders/order-events.js';

/**
 * The port of an exchange provider. Amounts are decimal strings in tokens, not in their smallest units. Every
 * call throws ProviderUnavailable if its result is unknown.
 */
export interface ExchangeProvider {
  /** The name, stored in each order. A provider keeps its orders when another one is configured. */
  readonly name: string;

  readonly pairIds: readonly string[];

  /** Quotes an amount; null means the default. Throws `validation_failed` outside the limits of the pair. */
  readonly quote: (pairId: string, amountFrom: string | null) => Promise<Quote>;

  /**
   * Opens an order. A repeat with the same `order_id` may open a second order. It stays unpaid, because its
   * address is never displayed. Throws ProviderRefused for an order that will never be accepted.
   */
  readonly create: (order: NewProviderOrder) => Promise<ProviderOrder>;

  /** Returns the status. A provider with an append-only list throws if a deposit in `recorded` is missing. */
  readonly status: (order: AgreedOrder, recorded?: readonly DepositFacts[]) => Promise<ProviderStatus>;

  /** Requests the payout after a deposit, unless the provider pays automatically. May be repeated. */
  readonly settle: (order: AgreedOrder) => Promise<void>;

  /** Stops the processing of later deposits. May be repeated. */
  readonly cancel: (order: AgreedOrder) => Promise<void>;
}

/** The terms of an order, as its events store them. */
export type AgreedOrder = ProviderOrder & Pick<OrderFacts, 'order_id' | 'pair_id' | 'withdraw_address'>;

export interface NewProviderOrder extends Omit<OrderRequest, 'key_id' | 'merchant_id' | 'user_id'> {
  readonly order_id: string;
  /** The deposit amount; null for the pair's default. */
  readonly amount_from: string | null;
  /** The network address of the caller, for providers that require it. It is never stored. */
  readonly caller_address?: string;
}

export type ProviderStatus = Omit<Observation, 'at' | 'hasForeignDeposit'>;

/** The injection token of the sandbox's provider. Production has none. */
export const SANDBOX_PROVIDER = Symbol('SANDBOX_PROVIDER');

/** Sends test USDC on the dev chain. Only the sandbox provides it. */
export interface TestMoney {
  /** Returns the hash of the transaction. `amount` is in minor units. Throws `unavailable`. */
  transfer(to: string, amount: bigint): Promise<string>;
}

export const TEST_MONEY = Symbol('TEST_MONEY');
