import type { Forget, Get } from '../../../platform/context.js';
import { ApplicantRows } from '../store/applicant-rows.js';
import { CARD_ISSUER, IDENTITY_VERIFIER, type CardIssuer, type IdentityVerifier } from './ports.js';
import { measureCall } from './provider-call.js';

/**
 * Has the identity provider and the card issuer erase the person while the rows that name their objects exist, then drops
 * the rows. Throws errors of providers: the erasure retries.
 */
export function forgetApplicant(get: Get): Forget {
  return async ({ userId }) => {
    const rows = get(ApplicantRows);
    await rows.dropPending(userId);
    await measureCall('identity', () => get<IdentityVerifier>(IDENTITY_VERIFIER).forget(userId));
    await measureCall('card', () => get<CardIssuer>(CARD_ISSUER).forget(userId));
    await rows.dropAll(userId);
    return true;
  };
}
