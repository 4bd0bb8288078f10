/** A time from `from`, inclusive, to `to`, exclusive. Its name orders as it does. */
export interface Period {
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

/** A way to cut time into periods. */
export interface Periods {
  /** The period `offset` periods after the one that holds the instant. */
  at(instant: Date, offset: number): Period;
}

/** Days in UTC: all have 24 hours. Named `20260131`. */
export const DAYS = periods(8, (instant, offset) =>
  Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth(), instant.getUTCDate() + offset),
);

/** Months in UTC. Named `202601`. */
export const MONTHS = periods(6, (instant, offset) =>
  Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + offset),
);

function periods(digits: number, startOf: (instant: Date, offset: number) => number): Periods {
  return {
    at(instant, offset) {
      const [from, to] = [offset, offset + 1].map((each) => new Date(startOf(instant, each))) as [Date, Date];
      return { name: from.toISOString().replaceAll('-', '').slice(0, digits), from, to };
    },
  };
}
