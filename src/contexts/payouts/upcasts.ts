import type { Context } from '../../platform/context.js';
import { PAYOUT_RECEIVED, type TransferEvidence } from './contract.js';

const NOT_KNOWN: { readonly [Field in keyof TransferEvidence]: null } = {
  created_at: null,
  block_hash: null,
  block_time: null,
  confirmations: null,
  token: null,
  from: null,
  to: null,
  value: null,
  receipt_sha256: null,
};

/** How older versions of events of payouts are read. */
export const PAYOUT_UPCASTS: NonNullable<Context['upcasts']> = {
  'payout.received.v1': { to: PAYOUT_RECEIVED, with: (data) => ({ ...data, ...NOT_KNOWN }) },
};
