import { canonicalAmount, isAmount, toMinorUnits } from '../../../kernel/money.js';

/** The most one payout may move: 10,000 USDC (contract.md 9.3). */
export const MAX_PAYOUT_AMOUNT = '10000';
const MAX_MINOR = toMinorUnits(MAX_PAYOUT_AMOUNT);

/** The canonical amount of a report, or what is wrong with it as a message that follows the word `amount`. */
export function readPayoutAmount(value: unknown): { readonly amount: string } | { readonly wrong: string } {
  if (value === undefined || value === null) return { wrong: 'is required' };
  if (!isAmount(value)) return { wrong: 'must be a decimal string with at most 6 decimals' };
  const minor = toMinorUnits(value);
  if (minor <= 0n) return { wrong: 'must be greater than 0' };
  if (minor > MAX_MINOR) return { wrong: `must be at most ${MAX_PAYOUT_AMOUNT}` };
  return { amount: canonicalAmount(value) };
}
