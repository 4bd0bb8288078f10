export { agreeing } from './verification/verification.js';
export { PAYOUT_VIEWS, readBalances } from './payouts/payouts-projection.view.js';
export { CHAIN_READER, type ChainObservation, type ChainReader } from './verification/chain.ports.js';
export {
  PAYOUT_CATEGORY,
  comparableHash,
  type PayoutReported,
  type PayoutReceived,
  type PayoutExpired,
  type PayoutEvent,
} from './payouts/payout-events.js';
