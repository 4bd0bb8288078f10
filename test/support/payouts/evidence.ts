import type { SeenTransfer } from '../../../src/contexts/payouts/domain/payout.js';

/** Evidence on the chain of a transfer of 12.5 USDC. */
export function evidenceAt(logIndex: number): SeenTransfer {
  return {
    log_index: logIndex,
    block_number: 7,
    block_hash: `0x${'b1'.repeat(32)}`,
    block_time: '2026-01-02T03:03:00.000Z',
    confirmations: 12,
    token: `0x${'70'.repeat(20)}`,
    from: `0x${'f0'.repeat(20)}`,
    to: `0x${'2e'.repeat(20)}`,
    value: '12500000',
    receipt_sha256: 'ab'.repeat(32),
  };
}
