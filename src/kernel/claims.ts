/** The event types of claims: an owner acquired the claim; the stream of an owner without events is fenced. */
export const CLAIM_ACQUIRED = 'claim.taken.v1';
export const CLAIM_OWNER_ABANDONED = 'claim.owner_abandoned.v1';
