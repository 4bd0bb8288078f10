import type { Forget, Get } from '../../../platform/context.js';
import { ApplicantRows } from '../store/applicant-rows.js';
import { CARD_ISSUER, IDENTITY_VERIFIER, type CardIssuer, type IdentityVerifier } from './ports.js';
import { calling } from './provider-call.js';

/**
 * Has the identity provider and the card issuer delete what they hold, as long as it is known what they call the person;
 * then drops that, images, one-time codes, and steps that were still to be taken. Throws what a provider throws: it is
 * asked again.
 */
export function forgetApplicant(get: Get): Forget {
  return async ({ userId }) => {
    const rows = get(ApplicantRows);
    await rows.dropPending(userId);
    await calling('identity', () => get<IdentityVerifier>(IDENTITY_VERIFIER).forget(userId));
    await calling('card', () => get<CardIssuer>(CARD_ISSUER).forget(userId));
    await rows.dropAll(userId);
    return true;
  };
}
