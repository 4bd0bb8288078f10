import { exchanged, isAtLeast, isDecimal } from '../../src/kernel/decimal.js';
import { DomainError } from '../../src/kernel/domain-error.js';
import { ProviderRefused, type Quote } from '../../src/contexts/exchange/application/ports.js';

/** What the sandbox exchanges, always at the same rate: test USDC of the dev chain. */
interface SandboxPair {
  readonly rate: string;
  readonly defaultAmount: string;
  readonly minimum: string;
  readonly maximum: string;
  readonly decimalsFrom: number;
  readonly decimalsTo: number;
}

const PAIRS: Readonly<Record<string, SandboxPair>> = {
  USDCSOL: {
    rate: '0.005',
    defaultAmount: '100',
    minimum: '5',
    maximum: '5000',
    decimalsFrom: 6,
    decimalsTo: 9,
  },
};

export const SANDBOX_PAIRS = Object.keys(PAIRS);

/** Throws DomainError `validation_failed` for an amount outside the limits, ProviderRefused for a pair that is none. */
export function sandboxQuote(pairId: string, amountFrom: string | null): Omit<Quote, 'expiresAt'> {
  const pair = Object.hasOwn(PAIRS, pairId) ? PAIRS[pairId] : undefined;
  if (pair === undefined)
    throw new ProviderRefused('is none that the sandbox exchanges: GET /v1/tokens lists those', 'pair_id');
  const { rate, minimum, maximum, decimalsFrom, decimalsTo } = pair;
  const amount = amountFrom ?? pair.defaultAmount;
  if (!isDecimal(amount, decimalsFrom))
    throw DomainError.invalid({
      amount_from: [`must be a decimal with at most ${decimalsFrom} digits after the point`],
    });
  if (!isAtLeast(amount, minimum) || !isAtLeast(maximum, amount))
    throw DomainError.invalid({ amount_from: [`must be from ${minimum} to ${maximum}`] });
  return { amountFrom: amount, amountTo: exchanged(amount, rate, decimalsTo), rate, minimum, maximum };
}
