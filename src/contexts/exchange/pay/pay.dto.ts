import type { Locale } from '../../../platform/http/pages/locale.js';
import type { Quote } from '../orders/order-events.js';
import type { OrderRecord } from '../orders/order-record.js';
import type en from '../words/en.json';

/**
 * The messages between the pay widget (`widgets/pay`) and its server. They are types only, because the page
 * is built separately. Amounts are decimal strings, times ISO 8601, `now` the server's clock in epoch ms.
 */

/** The texts of the page; the English file defines the keys. */
export type Messages = Readonly<Record<keyof typeof en, string>>;

type Texts<Names extends string, Text extends string | null = string> = Readonly<Record<Names, Text>>;

export interface PayFacts {
  readonly session: string;
  readonly has_expired: boolean;
  /** The payer's id, by which the browser stores a tab's state. */
  readonly link: string;
  /** True in the sandbox, whose transactions no explorer can find. */
  readonly sandbox: boolean;
  /** True where `POST orders/:id/test_payment` exists; never outside the sandbox. */
  readonly test_payments: boolean;
  /** `logo` is a `data:` URL. */
  readonly merchant: { readonly name: string } & Texts<'logo' | 'help_url' | 'terms_url', string | null>;
  readonly locale: Locale;
  readonly messages: Messages;
  readonly to: Texts<'symbol' | 'chain' | 'explorer' | 'address'> &
    Texts<'tag' | 'memo', string | null> & {
      readonly decimals: number;
      /** True if only a program can spend from the address. */
      readonly is_of_program: boolean;
    };
  /** All pairs of the catalogue, because an order is displayed even after its pair was withdrawn. */
  readonly offers: readonly (Texts<'pair_id' | 'name' | 'symbol' | 'chain' | 'icon' | 'explorer'> & {
    readonly is_open: boolean;
    readonly decimals: number;
    /** The network's name for a tag or memo, or null for none. */
    readonly tag: 'tag' | 'memo' | null;
    /** The wallet URI with `{address}`, `{amount}` or `{units}`; null if wallets support no URI. */
    readonly payment_uri: string | null;
  })[];
  readonly onramps: readonly Texts<'name' | 'url'>[];
  readonly notice: string | null;
  readonly return_url: string | null;
}

export interface PageCalls {
  /** A quote for `amount_from` or `amount_to`; without either, for the pair's default amount. */
  quote: { readonly pair_id: string; readonly amount_from?: string; readonly amount_to?: string };
  /** The creation of an order. A repeat sends the same `request_id` of 32 random hexadecimal digits. */
  create: { readonly pair_id: string; readonly amount_from: string; readonly request_id: string };
}

export type PayQuote = Quote & { readonly now: number };

export interface PayOrder {
  readonly order: OrderRecord;
  /** The part of `amount_from` that has not arrived. */
  readonly missing: string;
  readonly transfers: readonly Transfer[];
  /** True once only late deposits may change the order. */
  readonly is_final: boolean;
  readonly now: number;
}

/** A transaction on the chain of the deposit or, for `payout`, on the receiver's chain. */
export interface Transfer extends Texts<'amount' | 'hash'> {
  readonly kind: 'deposit' | 'late' | 'payout' | 'refund';
}
