import type { Locale } from '../../../../platform/http/pages/locale.js';
import type { Quote } from '../../domain/order-events.js';
import type { OrderRecord } from '../../domain/order-record.js';
import type en from '../../words/en.json';

/**
 * What the pay widget (`widgets/pay`) and its server send each other: types alone, as the page is built separately. Amounts
 * are decimal strings, times ISO 8601, `now` is the server's clock in epoch ms.
 */

/** The words of the page; English ones define the keys. */
export type Messages = Readonly<Record<keyof typeof en, string>>;

type Texts<Names extends string, Text extends string | null = string> = Readonly<Record<Names, Text>>;

/** The facts in the document of the page. */
export interface PayFacts {
  readonly session: string;
  readonly has_expired: boolean;
  /** Identifies the link among those that a tab was opened with. */
  readonly link: string;
  /** Hashes lead nowhere in the sandbox. */
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
      /** It has no key: a program alone can spend from it. */
      readonly is_of_program: boolean;
    };
  /** All of the catalogue: an order is displayed also when its pair is not offered any more. */
  readonly offers: readonly (Texts<'pair_id' | 'name' | 'symbol' | 'chain' | 'icon' | 'explorer'> & {
    readonly is_open: boolean;
    readonly decimals: number;
    /** The network's name for the companion of the address, or null where it has none. */
    readonly tag: 'tag' | 'memo' | null;
    /** The URI with `{address}`, `{amount}` and `{units}`; null where wallets support none. */
    readonly payment_uri: string | null;
  })[];
  readonly onramps: readonly Texts<'name' | 'url'>[];
  readonly notice: string | null;
  /** The absolute address to which the page leads back, under the link's signature. */
  readonly return_url: string | null;
}

/** The arguments of the page's calls. */
export interface PageCalls {
  /** One of the amounts, or none for the pair's default. */
  quote: { readonly pair_id: string; readonly amount_from?: string; readonly amount_to?: string };
  /** `request_id`: 32 random hexadecimal digits. The same again is the same order. */
  create: { readonly pair_id: string; readonly amount_from: string; readonly request_id: string };
}

export interface PayQuote extends Quote {
  readonly now: number;
}

export interface PayOrder {
  readonly order: OrderRecord;
  /** The part of `amount_from` that has not arrived. */
  readonly missing: string;
  readonly transfers: readonly Transfer[];
  /** Nothing changes any more, late deposits aside. */
  readonly is_final: boolean;
  readonly now: number;
}

/** A transaction of an order, on the chain of the deposit or, for `payout`, on that of the receiver. */
export interface Transfer extends Texts<'amount' | 'hash'> {
  readonly kind: 'deposit' | 'late' | 'payout' | 'refund';
}
