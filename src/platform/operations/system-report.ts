import { methodDecorator } from '../discovered-methods.js';

/** Due work of one kind. */
export interface DueBacklog {
  readonly name: string;
  /** Exact up to 10,000. */
  readonly due: number;
  /** The due time of the oldest item, ISO 8601; null where no item is due. */
  readonly oldest_at: string | null;
}

/** Declares a method that reports due work of all processes to `GET /admin/v1/system` (admin-api.md 3), with its name. */
export const ReportsBacklog = methodDecorator<string, () => Promise<DueBacklog>>();

/** Declares a method that reports a member of `audit` to `GET /admin/v1/system`, or null. */
export const ReportsAudit = methodDecorator<'head' | 'last_verify', () => Promise<object | null>>();

/** Reads of backlogs count no further. */
export const MAX_DUE = 10_000;
