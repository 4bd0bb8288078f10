/** Where "now" comes from. Decisions never ask; handlers do and hand the answer to them. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Nest injection token of the {@link Clock}. */
export const CLOCK = Symbol('CLOCK');
