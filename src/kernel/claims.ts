/** The event types of claims. One records the acquisition of a claim; the other fences an owner without events. */
export const CLAIM_ACQUIRED = 'claim.taken.v1';
export const CLAIM_OWNER_ABANDONED = 'claim.owner_abandoned.v1';
