import { newId } from '../../../src/kernel/ids.js';
import type { NewEvent } from '../../../src/platform/event-store/port.js';
import type { PayoutFacts, TransferSighting } from '../../../src/contexts/payouts/payouts/payout-events.js';

export const FACTS: PayoutFacts = {
  payout_id: 'p',
  merchant_id: 'm',
  user_id: 'u',
  amount: '12.50',
  currency_code: 'USDC',
  transaction_hash: '0xAB',
  custom_metadata: '{"a": 12345678901234567890}',
  chain_id: 1,
};

/** Evidence on the chain of a transfer of 12.5 USDC. */
export function evidenceAt(logIndex: number): TransferSighting {
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

export function payoutReceived(merchant_id: string, custom_metadata = '{ "a":1.0}'): NewEvent {
  const at = new Date().toISOString();
  const facts = { payout_id: newId(), merchant_id, user_id: newId(), amount: '1.50', currency_code: 'USDC' };
  const transfer = { transaction_hash: '0x1', custom_metadata, chain_id: 1, created_at: at, received_at: at };
  const data = { ...facts, ...transfer, ...evidenceAt(0) };
  return { id: newId(), type: 'payout.received.v2', data, metadata: {} };
}
