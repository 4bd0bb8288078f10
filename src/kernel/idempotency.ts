import { DAY_MS } from './clock.js';
import { DomainError } from './domain-error.js';

/** The days for which the response to an Idempotency-Key is kept (contract.md 4.4). */
export const RESPONSES_KEPT_DAYS = 30;
/** The repeat window, one day shorter than the retention of responses, because clocks differ. */
const REPEATS_WITHIN_MS = (RESPONSES_KEPT_DAYS - 1) * DAY_MS;

/** The error for a repeat whose response is no longer kept. The request then runs as a new request. */
export class IdempotencyKeyExpired extends DomainError {
  constructor(detail: string) {
    super('invalid_transition', detail);
  }
}

/** Throws IdempotencyKeyExpired if `now` is after the repeat window of the operation done at `doneAt`. */
export function requireIdempotent(doneAt: string, now: string): void {
  if (Date.parse(now) - Date.parse(doneAt) > REPEATS_WITHIN_MS) {
    throw new IdempotencyKeyExpired(
      'the Idempotency-Key belongs to an operation whose response is no longer kept',
    );
  }
}
