import { tidy } from '../../../kernel/typed-text.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';

/** The facts that every payout event repeats, so that a reader needs no other event. Stream `payout-<payout_id>`. */
export interface PayoutFacts {
  readonly payout_id: string;
  readonly merchant_id: string;
  readonly user_id: string;
  /** Canonical decimal string, > 0 and <= 10000 (kernel/money.ts). */
  readonly amount: string;
  readonly currency_code: 'USDC';
  /** The hash as the merchant sent it. Comparisons use another form ({@link comparableHash}). */
  readonly transaction_hash: string;
  /** The JSON text of the object as the merchant sent it, byte for byte; `{}` when there was none. */
  readonly custom_metadata: string;
  /** EIP-155 id of the chain that the transfer is on. */
  readonly chain_id: number;
}

/** A merchant says that it broadcast a transfer. The payout is `pending` until `expires_at`. */
export type PayoutReported = DomainEvent<
  'payout.reported.v1',
  PayoutFacts & { readonly created_at: string; readonly expires_at: string }
>;

/**
 * The transfer was found on the chain, exact and confirmed, and belongs to no other payout. Final. `log_index` is the
 * place of the Transfer log among those of its transaction, from 0.
 */
export type PayoutReceived = DomainEvent<
  'payout.received.v2',
  PayoutFacts & {
    readonly log_index: number;
    readonly block_number: number;
    readonly received_at: string;
  } & TransferEvidence
>;

/** The node's response for which a payout was received (ADR 122). */
export interface TransferEvidence {
  /** The time of the report, ISO 8601. */
  readonly created_at: string;
  /** Lower case, as all hashes and addresses here. */
  readonly block_hash: string;
  /** The time of the block by its own header, ISO 8601. */
  readonly block_time: string;
  /** Blocks from the transfer's own to the newest one of that check, both counted. */
  readonly confirmations: number;
  /** The contract that wrote the log. */
  readonly token: string;
  readonly from: string;
  readonly to: string;
  /** Minor units, a decimal integer. */
  readonly value: string;
  /** SHA-256, in hex, of the receipt as the node sent it; its bytes are in `payouts.receipts`, unless they are too many. */
  readonly receipt_sha256: string;
}

/** The window passed without the transfer. Final. The merchant sees `reason`. */
export type PayoutExpired = DomainEvent<
  'payout.expired.v1',
  PayoutFacts & {
    readonly reason: string;
    readonly expired_at: string;
    /** The merchant ended the window early. Only in the sandbox. */
    readonly early?: true;
  }
>;

/**
 * Only on a store that is not atomic (ADR 103): a payout of the user may be reported soon, unless the user is being
 * deactivated. Stream `payout_intent-<payout_id>`; no part of the payout.
 */
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

/** The place of the transfer on the chain, with the other observations of one check. */
export interface TransferSighting extends Omit<TransferEvidence, 'created_at'> {
  readonly log_index: number;
  readonly block_number: number;
}

/** The stream category of payouts: a payout's stream is `payout-<payout_id>`. */
export const PAYOUT_CATEGORY = 'payout';

const HASH = /^(?:0x)?([0-9a-f]{64})$/i;

/**
 * The form in which hashes are compared: lower case after `0x`, however the prefix was sent; any other text without invisible
 * marks and the spaces around it (contract.md 9.4).
 */
export function comparableHash(transactionHash: string): string {
  const bare = tidy(transactionHash);
  const [, digits] = HASH.exec(bare) ?? [];
  return digits === undefined ? bare : `0x${digits.toLowerCase()}`;
}

/** Checks whether a transaction of the chain may have this hash, in any form. */
export function isHash(transactionHash: string): boolean {
  return HASH.test(tidy(transactionHash));
}
