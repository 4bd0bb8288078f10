/** Stored names of the events of claims: the claim has an owner; the owner's stream is fenced, its writer died before it began. */
export const CLAIM_ACQUIRED = 'claim.taken.v1';
export const CLAIM_OWNER_ABANDONED = 'claim.owner_abandoned.v1';
