/** The event types of claims. The second type blocks a stream whose writer died before its first event. */
export const CLAIM_ACQUIRED = 'claim.taken.v1';
export const CLAIM_OWNER_ABANDONED = 'claim.owner_abandoned.v1';
