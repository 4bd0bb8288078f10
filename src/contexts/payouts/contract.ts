export { agreeing } from './domain/verification.js';
export { PAYOUT_VIEWS, readBalances } from './views/audited-payouts.js';
export { CHAIN_READER, type ChainObservation, type ChainReader } from './application/ports.js';
export {
  PAYOUT_INTENDED,
  PAYOUT_REPORTED,
  PAYOUT_RECEIVED,
  PAYOUT_EXPIRED,
  PAYOUT_EVENTS,
  PAYOUT_CATEGORY,
  comparableHash,
  type PayoutFacts,
  type PayoutReported,
  type PayoutReceived,
  type TransferEvidence,
  type PayoutExpired,
  type PayoutIntent,
  type PayoutEvent,
} from './domain/payout-events.js';
