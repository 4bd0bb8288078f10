import { confirmationsOf } from '../../../platform/chain/chain-rules.js';
import type { ChainObservation } from './ports.js';
import type { Evidence } from '../domain/payout.js';
import type { Finding, ReceiptSource } from '../domain/verification.js';

/** A payout that the looks agree on: its transfers, any of which would confirm it, and the receipt that they are in. */
export interface Settled {
  readonly transfers: readonly Evidence[];
  readonly source: ReceiptSource;
}

/**
 * What the events of a payout keep of `look`, one of those that agree on `finding`. Place, block and sender were voted
 * on; confirmations and receipt are as this look's node told them. Null when the look lacks what has to be kept.
 */
export function settledBy(
  look: ChainObservation,
  finding: Extract<Finding, { kind: 'settled' }>,
  paid: {
    readonly hash: string;
    readonly wallet: string;
    readonly token: string;
    readonly amountMinor: bigint;
  },
): Settled | null {
  const source = look.receipts.get(paid.hash)?.source;
  const { blockNumber, blockHash, blockTime, logs } = finding;
  if (source === undefined || blockTime === undefined) return null;
  const seen = {
    block_number: blockNumber,
    block_hash: blockHash,
    block_time: new Date(blockTime * 1000).toISOString(),
    confirmations: confirmationsOf(blockNumber, look.head.number),
    token: paid.token.toLowerCase(),
  };
  const told = { to: paid.wallet.toLowerCase(), value: paid.amountMinor.toString() };
  const transfers = logs.map(({ logIndex, from }) => ({
    ...{ log_index: logIndex, ...seen, from, ...told },
    receipt_sha256: source.sha256,
  }));
  return { transfers, source };
}
