export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The source of the current time. Handlers read it and pass it to decisions. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Now as events and responses write it: ISO 8601 in UTC with milliseconds. */
export function timestamp(clock: Clock): string {
  return clock.now().toISOString();
}

/** Nest injection token of the {@link Clock}. */
export const CLOCK = Symbol('CLOCK');
