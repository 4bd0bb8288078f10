import { CLAIM_EVENTS } from '../../../platform/event-store/claims.js';
import { MERCHANT_EVENTS } from '../../merchants/contract.js';
import { ONBOARDING_EVENTS } from '../../onboarding/contract.js';
import { PAYOUT_EVENTS, PAYOUT_INTENDED } from '../../payouts/contract.js';
import { USER_EVENTS } from '../../users/contract.js';
import { WEBHOOK_EVENTS } from '../../webhooks/contract.js';

/** Stored names of every event that this version knows. */
export const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...CLAIM_EVENTS.map(({ type }) => type),
  ...MERCHANT_EVENTS,
  ...USER_EVENTS,
  ...ONBOARDING_EVENTS,
  ...PAYOUT_EVENTS,
  PAYOUT_INTENDED,
  ...WEBHOOK_EVENTS,
]);
