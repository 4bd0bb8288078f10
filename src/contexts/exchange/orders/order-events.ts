import type { DomainEvent } from '../../../kernel/aggregate.js';

export interface OrderRequest {
  /** The API key that created the order. No other key may read it. */
  readonly key_id: string;
  readonly merchant_id: string;
  readonly pair_id: string;
  readonly withdraw_address: string;
  readonly withdraw_address_tag: string | null;
  readonly withdraw_address_memo: string | null;
  readonly user_id: string | null;
}

/** A price. Amounts are decimal strings in tokens, not in their smallest units; times are ISO 8601. */
export interface Quote {
  readonly amount_from: string;
  readonly amount_to: string;
  /** The `amount_to` for an `amount_from` of 1, fees included. */
  readonly rate: string;
  /** The limits of `amount_from`. */
  readonly minimum: string;
  readonly maximum: string;
  /** The time until which the quote is valid and an unpaid order stays open. */
  readonly expires_at: string;
}

/** The terms that a provider accepted. */
export interface ProviderOrder extends Quote {
  readonly provider_reference: string;
  readonly deposit_address: string;
  readonly deposit_address_tag: string | null;
}

/** The terms fixed at an order's creation. PERSONAL_FIELDS are sealed in the store with the order's key. */
export interface OrderFacts extends OrderRequest, ProviderOrder {
  readonly order_id: string;
  /** The keyed hash of API key and `user_id`. Lists find a user's orders by it without decryption. */
  readonly user_hash: string | null;
  /** The keyed hash of the caller's address; null with a `user_id`. */
  readonly caller: string | null;
  readonly provider: string;
  /** The decimals of the payout, to which `amount_to` is rounded down. */
  readonly decimals_to: number;
  readonly created_at: string;
}

/** The fields that an erasure drops. */
export const PERSONAL_FIELDS = ['withdraw_address_tag', 'withdraw_address_memo', 'user_id'] as const;
/** The fields that identify a payer, in addition to the API key. */
export const PAYER_FIELDS = ['withdraw_address', ...PERSONAL_FIELDS] as const;

export function userHash(
  keyedHash: { of(...parts: readonly string[]): string },
  keyId: string,
  userId: string,
): string {
  return keyedHash.of('exchange user', keyId, userId);
}

export interface DepositFacts {
  /** The id of a transfer in one block. The same transfer has another id in another block. */
  readonly deposit_id: string;
  readonly amount: string;
  readonly transaction_hash: string;
  /** The time of the deposit's block, which decides if the deposit is in time. */
  readonly deposited_at: string;
}

interface Occurrence {
  readonly order_id: string;
  readonly at: string;
}

/** The data of each event by its stored name. Events of PUBLISHED_EVENTS also contain PublishedState. */
interface OrderEventData {
  'order.created.v1': OrderFacts;
  /** An order without a deposit by `waits_until` fails. */
  'order.marked_as_paid.v1': Occurrence & { readonly waits_until: string };
  /** The amount received so far becomes `refundable`. */
  'order.cancelled.v1': Occurrence & { readonly refundable: string };
  'order.expired.v1': Occurrence;
  'order.deposit_received.v1': Occurrence & DepositFacts;
  /** The deposits suffice: `amount_from` is exchanged, the rest is refundable. */
  'order.processing_started.v1': Occurrence &
    Readonly<Record<'amount_from' | 'amount_to' | 'refundable', string>>;
  'order.completed.v1': Occurrence &
    Readonly<Record<'amount_from' | 'amount_to' | 'withdraw_transaction_hash', string>>;
  /** The amount received becomes `refundable`, even after the exchange started. */
  'order.failed.v1': Occurrence & { readonly reason: string; readonly refundable: string };
  /** The provider refunded `amount`: all counted deposits, including those that left the chain. */
  'order.refunded.v1': Occurrence & {
    readonly amount: string;
    readonly refund_transaction_hash: string | null;
  };
  /** A deposit after the order's end or the start of its exchange. It is never exchanged automatically. */
  'order.late_deposit_recorded.v1': Occurrence & DepositFacts;
  /** A chain reorganisation removed a recorded deposit. */
  'order.deposit_missing.v1': Occurrence & Omit<DepositFacts, 'deposited_at'>;
  /** The total so far of transfers too small for individual records. It replaces the previous total. */
  'order.dust_recorded.v1': Occurrence & { readonly count: number; readonly amount: string };
  /** The provider exchanged or refunded after the order's end here. The status stays; an operator decides. */
  'order.late_outcome_recorded.v1': Occurrence & {
    readonly outcome: 'completed' | 'refunded';
    readonly transaction_hash: string | null;
  };
  'order.refund_recorded.v1': Occurrence & Readonly<Record<'amount' | 'transaction_hash' | 'actor', string>>;
  /** The erasure of the payer's personal data (contract.md 23.7). */
  'order.personal_data_erased.v1': Occurrence & { readonly key_id: string; readonly actor: string };
}

/** The events that send webhooks. */
export const PUBLISHED_EVENTS = [
  'order.cancelled.v1',
  'order.processing_started.v1',
  'order.completed.v1',
  'order.failed.v1',
  'order.refunded.v1',
  'order.late_deposit_recorded.v1',
  'order.dust_recorded.v1',
  'order.refund_recorded.v1',
] as const satisfies readonly (keyof OrderEventData)[];
export type PublishedEventType = (typeof PUBLISHED_EVENTS)[number];

/** The owner and the state of the order right after the event, for its webhook. */
interface PublishedState {
  readonly merchant_id: string;
  readonly key_id: string;
  readonly status: OrderStatus;
  readonly amount_refundable: string;
}

export type OrderEventOf<Type extends keyof OrderEventData> = DomainEvent<
  Type,
  OrderEventData[Type] & (Type extends PublishedEventType ? PublishedState : unknown)
>;
export type OrderEvent = { [Type in keyof OrderEventData]: OrderEventOf<Type> }[keyof OrderEventData];
type LaterType = Exclude<keyof OrderEventData, 'order.created.v1'>;
/** An event of an existing order, before PublishedState is added to it. */
export type LaterOrderEvent = { [Type in LaterType]: DomainEvent<Type, OrderEventData[Type]> }[LaterType];

export const ORDER_STATUSES = [
  'pending',
  'paid',
  'processing',
  'completed',
  'cancelled',
  'expired',
  'failed',
  'refunded',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];
