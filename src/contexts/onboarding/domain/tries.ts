import { DomainError } from '../../../kernel/domain-error.js';

/** Seconds between two codes that one address requests for one user, unless the first was used up. */
export const CODE_EVERY_SECONDS = 30;

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

interface Quota {
  readonly times: number;
  readonly within: string;
  readonly seconds: number;
}

/** Each costs money. */
const COSTLY: readonly Quota[] = [
  { times: 3, within: 'an hour', seconds: HOUR_SECONDS },
  { times: 10, within: 'a day', seconds: DAY_SECONDS },
];
const QUOTAS: Readonly<Record<keyof Tries, { readonly what: string; readonly quotas: readonly Quota[] }>> = {
  details: {
    what: 'Your details were changed',
    quotas: [{ times: 20, within: 'a day', seconds: DAY_SECONDS }],
  },
  checks: { what: 'Your identity was checked', quotas: COSTLY },
  cards: { what: 'Your card was requested again', quotas: COSTLY },
};

/** Times of the steps with quotas within a day, oldest first. */
export interface Tries {
  readonly details: readonly string[];
  readonly checks: readonly string[];
  readonly cards: readonly string[];
}

export const NO_TRIES: Tries = { details: [], checks: [], cards: [] };

export function withTry(tries: Tries, step: keyof Tries, at: string): Tries {
  const recent = tries[step].filter((each) => secondsBetween(each, at) < DAY_SECONDS);
  return { ...tries, [step]: [...recent, at] };
}

/** Throws `rate_limited`. */
export function requireQuota(step: keyof Tries, all: Tries, at: string): void {
  const { what, quotas } = QUOTAS[step];
  const tries = all[step];
  for (const { times, within, seconds } of quotas) {
    const oldest = tries.at(-times);
    const waitSeconds = oldest === undefined ? 0 : Math.ceil(seconds - secondsBetween(oldest, at));
    if (waitSeconds <= 0) continue;
    throw new DomainError(
      'rate_limited',
      `${what} ${times} times within ${within}; try again in ${durationText(waitSeconds)}`,
      {},
      waitSeconds,
    );
  }
}

function durationText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return minutes > 120 ? `${Math.ceil(minutes / 60)} hours` : `${minutes} minute${minutes === 1 ? '' : 's'}`;
}

function secondsBetween(earlier: string, later: string): number {
  return (Date.parse(later) - Date.parse(earlier)) / 1000;
}
