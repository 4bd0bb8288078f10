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

/** A table that is partitioned by periods of `received_at`, made `ahead` periods before they begin. */
export interface PartitionedTable {
  readonly name: 'batches' | 'events';
  readonly periods: Periods;
  readonly ahead: number;
}

/** Days in UTC: all have 24 hours. Named `20260131`. */
export const DAYS: Periods = {
  at(instant, offset) {
    const day = (each: number): Date =>
      new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth(), instant.getUTCDate() + each));
    return { name: digits(day(offset), 8), from: day(offset), to: day(offset + 1) };
  },
};

/** Months in UTC. Named `202601`. */
export const MONTHS: Periods = {
  at(instant, offset) {
    const month = (each: number): Date =>
      new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + each));
    return { name: digits(month(offset), 6), from: month(offset), to: month(offset + 1) };
  },
};

function digits(start: Date, count: number): string {
  return start.toISOString().slice(0, 10).replaceAll('-', '').slice(0, count);
}
