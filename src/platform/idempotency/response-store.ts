import type { Pool } from 'pg';
import { RESPONSES_KEPT_DAYS } from '../../kernel/repeats.js';
import type { CommitResult, StoredResponse } from '../event-store/port.js';
import { bounded } from '../postgres/bounded.js';

/** Where responses are written: `commit_units` of the PostgreSQL adapter, so that they group-commit under its lock. */
export interface ResponseWriter {
  commit(commit: { readonly appends: readonly []; readonly response: StoredResponse }): Promise<CommitResult>;
}

interface ResponseRow {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

const CHUNK = 5000;

/** Responses of requests with an Idempotency-Key, by scope and key; always in PostgreSQL, kept 30 days (contract.md 4.4). */
export class ResponseStore {
  constructor(
    private readonly pool: Pool,
    private readonly writer: ResponseWriter,
  ) {}

  /** Stores the response and returns null, unless the key has one: then that, and nothing changes. */
  async storeOrGet(response: StoredResponse): Promise<StoredResponse | null> {
    const result = await this.writer.commit({ appends: [], response });
    return result.outcome === 'responded' ? result.response : null;
  }

  async find(scope: string, key: string): Promise<StoredResponse | null> {
    const { rows } = await this.pool.query<ResponseRow>(
      bounded({
        name: 'event_store.find_response',
        text: 'select fingerprint, status, body from event_store.answers where scope = $1 and key = $2',
        values: [scope, key],
      }),
    );
    const [row] = rows;
    return row ? { scope, key, ...row } : null;
  }

  /** Deletes responses older than 30 days before `now`, in chunks that hold no lock for long; returns how many. */
  async purge(now: Date, signal?: AbortSignal): Promise<number> {
    const before = new Date(now.getTime() - RESPONSES_KEPT_DAYS * 86_400_000);
    for (let total = 0; ;) {
      const { rowCount } = await this.pool.query(
        `delete from event_store.answers where ctid = any(array(
           select ctid from event_store.answers where created_at < $1 limit $2))`,
        [before, CHUNK],
      );
      total += rowCount ?? 0;
      if ((rowCount ?? 0) < CHUNK || signal?.aborted) return total;
    }
  }
}
