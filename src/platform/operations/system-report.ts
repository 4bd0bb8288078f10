import { methodDecorator } from '../discovered-methods.js';

/** Due work of one kind. */
export interface DueBacklog {
  readonly name: string;
  /** Exact up to 10,000. */
  readonly due: number;
  /** When the oldest of it became due, ISO 8601; null where nothing is. */
  readonly oldest_at: string | null;
}

/** Of the log: its newest signed head, and the outcome of the last `npm run audit -- verify`. */
export interface AuditStatus {
  readonly head: object | null;
  readonly last_verify: object | null;
}

/** Declares a method that reports due work of all processes to `GET /admin/v1/system` (admin-api.md 3), with its name. */
export const ReportsBacklog = methodDecorator<string, () => Promise<DueBacklog>>();

/** Declares the method that reports the audit to `GET /admin/v1/system`. */
export const ReportsAudit = methodDecorator<'audit', () => Promise<AuditStatus>>();

/** Reads of backlogs count no further. */
export const MAX_DUE = 10_000;
