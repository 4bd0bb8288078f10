export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The source of the current time, which handlers pass to decisions. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

export function timestamp(clock: Clock): string {
  return clock.now().toISOString();
}

export const CLOCK = Symbol('CLOCK');
