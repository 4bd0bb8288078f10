export { agreeing } from './domain/verification.js';
export { PAYOUT_VIEWS, readBalances } from './views/audited-payouts.js';
export { CHAIN_READER, type ChainObservation, type ChainReader } from './application/ports.js';
export {
  PAYOUT_CATEGORY,
  comparableHash,
  type PayoutReported,
  type PayoutReceived,
  type PayoutExpired,
  type PayoutEvent,
} from './domain/payout-events.js';
