/** Last names that select an outcome in the sandbox. */
export const SANDBOX_NAMES = {
  /** The identity is rejected. */
  rejected: 'Rejected',
  /** The identity stays under review until an operator decides (`npm run admin -- users review`), or SANDBOX_REVIEW_SECONDS. */
  review: 'Review',
  /** The first attempt for a card fails. */
  cardFails: 'Cardless',
} as const;
