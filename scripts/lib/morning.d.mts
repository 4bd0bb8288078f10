interface Identified {
  readonly id: string;
}

/** What the data is about. */
export interface Morning {
  readonly endpoint: Identified & { readonly url: string };
  /** Active; payouts were reported to each. */
  readonly users: readonly (Identified & {
    readonly phone_number: string;
    readonly external_id: string;
    readonly issuer_wallet_address: string;
  })[];
  readonly received: Payout;
  /** 99 of 100 were transferred. */
  readonly short: Payout;
  /** No such transaction. */
  readonly missing: Payout;
  readonly order: Identified & { readonly deposit_address: string; readonly amount_refundable: string };
  readonly inReview: Identified & { readonly phone_number: string };
  readonly suspended: Identified & { readonly name: string };
  readonly raised: Identified & { readonly name: string };
  /** Raises the limit of `raised`. */
  readonly operation: Identified;
}

type Payout = Identified & { readonly transaction_hash: string };

/** The parts of sandbox.json that it needs. */
export interface MorningPlace {
  readonly base_url: string;
  readonly widget_url: string;
  readonly merchant: { readonly api_key: string; readonly private_key: string };
  readonly exchange: { readonly api_key: string; readonly secret: string };
  readonly admin: { readonly base_url: string; readonly api_key: string };
  readonly chain: {
    readonly rpc_url: string;
    readonly chain_id: number;
    readonly usdc_address: string;
    readonly funded_private_key: string | null;
  };
}

export function morning(place: MorningPlace, options?: { readonly receiver?: string }): Promise<Morning>;
