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

/** What a context reports of all processes to `GET /admin/v1/system` (admin-api.md 3). */
export interface SystemReport {
  readonly backlogs?: () => Promise<readonly DueBacklog[]>;
  readonly audit?: () => Promise<AuditStatus>;
}

/** Reads of backlogs count no further. */
export const MAX_DUE = 10_000;
