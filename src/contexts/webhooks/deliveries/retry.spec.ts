import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryAfterMs } from '../../../platform/outbound/outbound-request.js';
import { webhooksConfig } from '../webhooks.config.js';
import { retryDelayMs, RETRY_AFTER_CAP_MS, toOutcome, type AttemptOutcome } from './retry.js';

const SCHEDULE = webhooksConfig({}).webhookRetryScheduleSeconds;
const NOW = Date.UTC(2026, 0, 1);
const failed = { kind: 'failed', phase: 'timeout' } as const;
const responded = (status: number, retryAfter: string | null) =>
  ({ kind: 'response', status, retryAfter }) as const;

/** Returns the delay after a response whose Retry-After is read at `now`. */
function delayMs(
  attempt: number,
  response: typeof failed | ReturnType<typeof responded>,
  schedule: readonly number[],
  random: number,
  now: number,
): number | null {
  const requested = response.kind === 'response' ? retryAfterMs(response.retryAfter, now) : null;
  return retryDelayMs(attempt, response, schedule, random, requested);
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` */
const rfc1123 = (date: Date): string => date.toUTCString();
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
function rfc850(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(/,? /) as string[];
  return `Anyday, ${day}-${month}-${year!.slice(2)} ${time} GMT`;
}
/** `Sun Nov  6 08:49:37 1994` */
function asctime(date: Date): string {
  const [weekday, day, month, year, time] = date.toUTCString().split(/,? /) as string[];
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}

describe('the retry delay', () => {
  it('follows the schedule of the contract with ten delays after the first attempt', () => {
    const delays = Array.from({ length: 12 }, (_, index) => delayMs(index + 1, failed, SCHEDULE, 0.5, NOW));
    const [minute, hour] = [60_000, 3_600_000];
    expect(delays).toEqual([
      0,
      5000,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
      null,
      null,
    ]);
  });

  it('varies between 90 and 110 percent of the schedule', () => {
    expect(delayMs(2, failed, SCHEDULE, 0, NOW)).toBe(4500);
    expect(delayMs(2, failed, SCHEDULE, 0.999999, NOW)).toBe(5500);
  });

  it('is exactly max(schedule, min(Retry-After, 24 hours)), with Retry-After in seconds or as a date', () => {
    const requested = fc.oneof(
      fc.nat(400_000).map((seconds) => ({ text: String(seconds), ms: seconds * 1000 })),
      fc
        .tuple(fc.integer({ min: -200_000, max: 400_000 }), fc.constantFrom(rfc1123, rfc850, asctime))
        .map(([seconds, form]) => ({ text: form(new Date(NOW + seconds * 1000)), ms: seconds * 1000 })),
    );
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.constantFrom(429, 503),
        requested,
        random,
        (attempt, status, { text, ms }, drawn) => {
          const scheduled = delayMs(attempt, failed, SCHEDULE, drawn, NOW)!;
          const delay = delayMs(attempt, responded(status, text), SCHEDULE, drawn, NOW);
          expect(delay).toBe(Math.max(scheduled, Math.min(Math.max(ms, 0), RETRY_AFTER_CAP_MS)));
        },
      ),
    );
  });

  it.each([
    [500, '60', 0],
    [429, 'soon', 0],
    [503, '-5', 0],
    [429, '1.5', 0],
    [503, '2026-01-01T00:01:30Z', 0],
    [429, '', 0],
    [503, 'Sun, 00 Nov 1994 08:49:37 GMT', 0],
    [503, 'Sat, 31 Feb 2026 08:49:37 GMT', 0],
    [429, '99999999999999999999999', RETRY_AFTER_CAP_MS],
  ])('after a response %i with Retry-After %j is %i ms', (status, value, expected) => {
    expect(delayMs(1, responded(status, value), SCHEDULE, 0.5, NOW)).toBe(expected);
  });

  it('is null after the eleventh attempt, regardless of Retry-After', () => {
    expect(delayMs(11, responded(503, '5'), SCHEDULE, 0.5, NOW)).toBeNull();
  });
});

/** The table of contract.md 14.1, written a second time. */
function tabled(status: number): AttemptOutcome {
  if (status === 410) return 'gone';
  if (status === 408 || status === 429) return 'retry';
  return ({ 2: 'succeeded', 4: 'exhausted' } as const)[Math.floor(status / 100)] ?? 'retry';
}

it('every status of three digits has an outcome, and unknown ones are retried', () => {
  for (let status = 100; status <= 999; status += 1) {
    for (const retryAfter of [null, '5']) {
      const outcome = toOutcome(responded(status, retryAfter));
      expect(`${status} ${outcome}`).toBe(`${status} ${tabled(status)}`);
    }
  }
});

it('an attempt without a response is retried', () => {
  expect(toOutcome(failed)).toBe('retry');
});
