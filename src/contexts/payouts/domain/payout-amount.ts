import { Fault } from '../../../kernel/fault.js';
import { canonicalAmount, isAmount, toMinorUnits } from '../../../kernel/money.js';

/** The most one payout may move: 10,000 USDC (contract.md 9.3). */
export const MAX_PAYOUT_AMOUNT = '10000';
const MAX_MINOR = toMinorUnits(MAX_PAYOUT_AMOUNT);

/** The canonical amount of a report. */
export function readPayoutAmount(value: unknown): string | Fault {
  if (!isAmount(value)) return new Fault('must be a decimal string with at most 6 decimals');
  const minor = toMinorUnits(value);
  if (minor <= 0n) return new Fault('must be greater than 0');
  if (minor > MAX_MINOR) return new Fault(`must be at most ${MAX_PAYOUT_AMOUNT}`);
  return canonicalAmount(value);
}
