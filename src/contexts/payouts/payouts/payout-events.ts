import { tidy } from '../../../kernel/typed-text.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';

/** The values of `payouts.payouts.status`, by the status of the API. */
export const STATUS = { pending: 0, received: 1, expired: 2 } as const;
export type Status = keyof typeof STATUS;

/** The facts that every payout event repeats, so that a reader needs no other event. */
export interface PayoutFacts {
  readonly payout_id: string;
  readonly merchant_id: string;
  readonly user_id: string;
  /** The amount in USDC, a canonical decimal, > 0 and <= 10000 (kernel/money.ts). */
  readonly amount: string;
  readonly currency_code: 'USDC';
  /** The hash as the merchant sent it; {@link comparableHash} normalises it. */
  readonly transaction_hash: string;
  /** The JSON text as the merchant sent it, byte for byte; `{}` if the merchant sent no text. */
  readonly custom_metadata: string;
  /** The EIP-155 id of the chain. */
  readonly chain_id: number;
}

/** The event of a merchant's report of a transfer. The payout is `pending` until its outcome. */
export type PayoutReported = DomainEvent<
  'payout.reported.v1',
  PayoutFacts & { readonly created_at: string; readonly expires_at: string }
>;

/** The final event of a payout whose exact transfer is confirmed and unused by others. No v1 was released. */
export type PayoutReceived = DomainEvent<
  'payout.received.v2',
  PayoutFacts &
    TransferSighting & {
      /** The time of the report, ISO 8601. */
      readonly created_at: string;
      readonly received_at: string;
    }
>;

/** The observation of a transfer in the response of a node: the evidence of a payout (ADR 122). */
export interface TransferSighting {
  /** The place of the Transfer log among the logs of its transaction, from 0. */
  readonly log_index: number;
  readonly block_number: number;
  /** The block hash in lower case, like all hashes and addresses of this type. */
  readonly block_hash: string;
  /** The time of the block by its own header, ISO 8601. */
  readonly block_time: string;
  /** The number of blocks from the block of the transfer to the newest block, both included. */
  readonly confirmations: number;
  /** The contract that wrote the log. */
  readonly token: string;
  readonly from: string;
  readonly to: string;
  /** The amount in minor units, a decimal integer. */
  readonly value: string;
  /** The SHA-256 of the receipt in hex. `payouts.receipts` stores receipts up to 256 KiB. */
  readonly receipt_sha256: string;
}

/** The final event of a payout whose window ended without the transfer. The merchant receives `reason`. */
export type PayoutExpired = DomainEvent<
  'payout.expired.v1',
  PayoutFacts & {
    readonly reason: string;
    readonly expired_at: string;
    /** True if the merchant ended the window early, which only the sandbox allows. */
    readonly early?: true;
  }
>;

/** Announces a payout in `payout_intent-<payout_id>`, only on a store without atomic commits (ADR 103). */
export const PAYOUT_INTENDED = 'payout.intended.v1';
export interface PayoutIntent {
  readonly payout_id: string;
  readonly user_id: string;
}

export type PayoutEvent = PayoutReported | PayoutReceived | PayoutExpired;

export const PAYOUT_REPORTED = 'payout.reported.v1';
export const PAYOUT_RECEIVED = 'payout.received.v2';
export const PAYOUT_EXPIRED = 'payout.expired.v1';

export const PAYOUT_EVENTS = [PAYOUT_REPORTED, PAYOUT_RECEIVED, PAYOUT_EXPIRED] as const;

export const PAYOUT_CATEGORY = 'payout';

const HASH = /^(?:0x)?([0-9a-f]{64})$/i;

/** Normalises a hash to lower case with `0x`, and tidies other texts (contract.md 9.4). */
export function comparableHash(transactionHash: string): string {
  const bare = tidy(transactionHash);
  const [, digits] = HASH.exec(bare) ?? [];
  return digits === undefined ? bare : `0x${digits.toLowerCase()}`;
}

export function isHash(transactionHash: string): boolean {
  return HASH.test(tidy(transactionHash));
}
