import type { MadeOrder } from '../domain/order.js';

/** What stands behind an exchange: rates, liquidity, settlement. Amounts are decimal strings in whole units of a token. */
export interface ExchangeProvider {
  /** Stored with each order: its orders are asked about at this provider for ever. */
  readonly name: string;

  /** Pairs of the catalogue that can be had from it. */
  readonly pairIds: readonly string[];

  /**
   * What the pair costs now. `amountFrom` null: the pair's default amount. Throws DomainError `validation_failed` for an
   * amount outside the limits, {@link ProviderUnavailable} when nobody can say.
   */
  quote(pairId: string, amountFrom: string | null): Promise<Quote>;

  /**
   * Opens an order at the provider. The same `orderId` again gives the same order, never a second one. Throws
   * {@link ProviderRefused} for what it will never accept, {@link ProviderUnavailable} when it is not known whether it did.
   */
  create(order: NewProviderOrder): Promise<ProviderOrder>;

  /** All that is known of an order. May be asked as often as one likes. Throws {@link ProviderUnavailable}. */
  status(order: ProviderReference): Promise<ProviderStatus>;

  /**
   * The order's deposit was accepted: pay out. May be repeated; the outcome comes by `status`. A provider that processes
   * deposits by itself has nothing to do. Throws {@link ProviderUnavailable}.
   */
  settle(order: ProviderReference, settlement: Settlement): Promise<void>;

  /** The order ended without a deposit: nothing is to be processed any more. May be repeated. Throws {@link ProviderUnavailable}. */
  cancel(order: ProviderReference): Promise<void>;

  /** Resolves when the provider can be relied on; rejects with a sentence otherwise. */
  ping(): Promise<void>;
}

/** How the provider and we name an order. */
export interface ProviderReference {
  readonly orderId: string;
  /** The provider's own name of it. */
  readonly reference: string;
}

export interface Quote {
  readonly amountFrom: string;
  readonly amountTo: string;
  /** `amountTo` per one of `amountFrom`, fees included. */
  readonly rate: string;
  /** Of `amountFrom`. */
  readonly minimum: string;
  readonly maximum: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export interface NewProviderOrder {
  readonly orderId: string;
  readonly pairId: string;
  readonly amountFrom: string | null;
  readonly withdrawAddress: string;
  readonly withdrawAddressTag: string | null;
  readonly withdrawAddressMemo: string | null;
  /** The network address of whoever wants the order, for providers that have to know it; never stored. */
  readonly callerAddress?: string;
}

export interface ProviderOrder extends Quote {
  readonly reference: string;
  readonly depositAddress: string;
  readonly depositAddressTag: string | null;
}

/** A transfer to the deposit address with enough confirmations; what a reorganisation removed before that was never one. */
export interface Deposit {
  /** Stands for the transfer, its amount and its block: in another block it is another deposit. */
  readonly id: string;
  /** What one order alone may have, whatever the provider says. Absent: the id says it all. */
  readonly claim?: string;
  readonly amount: string;
  readonly transactionHash: string;
  /** Of its block, ISO 8601. */
  readonly at: string;
}

export type Outcome =
  | { readonly kind: 'completed'; readonly transactionHash: string; readonly amountTo: string | null }
  | { readonly kind: 'refunded'; readonly transactionHash: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

export interface ProviderStatus {
  /** In the order of the chain. */
  readonly deposits: readonly Deposit[];
  /** Ids of deposits that were listed, and that a reorganisation took off the chain since. Absent: there are none. */
  readonly missing?: readonly string[];
  /** Transfers that are not worth a listing each, however many they are: all of them in one sum. Absent: there are none. */
  readonly unlisted?: { readonly count: number; readonly amount: string };
  /** A transfer was seen that lacks confirmations: no order may expire meanwhile. */
  readonly isDepositUnderWay: boolean;
  /**
   * Up to when every deposit is in `deposits` or under way, ISO 8601: what expires later than this may still be paid.
   * Null when the provider cannot say (its node is behind or away).
   */
  readonly completeUntil: string | null;
  /** Null as long as there is none. */
  readonly outcome: Outcome | null;
}

export interface Settlement {
  /** What is exchanged; the rest of the deposit is refundable. */
  readonly amountFrom: string;
  readonly amountTo: string;
}

/** Nest injection token of the {@link ExchangeProviders}. */
export const EXCHANGE_PROVIDERS = Symbol('EXCHANGE_PROVIDERS');

export interface ExchangeProviders {
  /** The one that new orders go to. Throws DomainError `unavailable` when none is configured. */
  readonly current: ExchangeProvider;
  /** The one that has an order of that name. Throws {@link ProviderUnavailable} when it is not configured any more. */
  of(name: string): ExchangeProvider;
}

/** Nest injection token of the sandbox's {@link ExchangeProvider}, which the boot brings in; there is none in production. */
export const SANDBOX_PROVIDER = Symbol('SANDBOX_PROVIDER');

/** Not known, or not now: the same may be asked again. The message holds no address and no key. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';

  constructor(
    message: string,
    /**
     * `later`: by its own rules not yet, which is no sign of trouble. `contradiction`: it did answer, with what it must
     * not say, or denies what it said before: for the operator.
     */
    readonly kind: 'away' | 'later' | 'contradiction' = 'away',
  ) {
    super(message);
  }
}

/** Never: the provider has said no. `parameter` is the one at fault when it is the caller's. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
  constructor(
    message: string,
    readonly parameter:
      'pair_id' | 'withdraw_address' | 'withdraw_address_tag' | 'withdraw_address_memo' | null,
  ) {
    super(message);
  }
}

/** Nest injection token of {@link OrderTransfers}. */
export const ORDER_TRANSFERS = Symbol('ORDER_TRANSFERS');

export interface GivenRefund {
  readonly amount: string;
  readonly transactionHash: string;
  readonly recipient: string | null;
}

export interface CheckedRefund {
  /** Why the transfer was not checked: there is no node of its chain to ask. Null when it was. */
  readonly unchecked: string | null;
  /** Places in the transaction of the transfers that may be this refund; at least one when it was checked. */
  readonly logIndexes: readonly number[];
}

/** A recorded deposit, and what the chain has of it now. `why` is null for one that is on the chain. */
export interface CheckedDeposit {
  readonly depositId: string;
  readonly found: 'on_chain' | 'missing' | 'unknown';
  readonly why: string | null;
}

export interface OrderTransfers {
  /**
   * Throws DomainError `invalid_transition` when the chain says that the transaction is not this refund, `unavailable`
   * while its block is not final, and when too few nodes respond.
   */
  checkRefund(order: MadeOrder, refund: GivenRefund): Promise<CheckedRefund>;
  /** All recorded deposits; null where no node of their chain can be asked. Throws DomainError `unavailable`. */
  checkDeposits(order: MadeOrder): Promise<readonly CheckedDeposit[] | null>;
}

/** Nest injection token of a {@link CountryOf}. */
export const COUNTRY_OF = Symbol('COUNTRY_OF');

export interface CountryOf {
  /** ISO 3166-1 alpha-2, upper case; null when nobody knows. Never throws. */
  of(address: string): string | null;
}
