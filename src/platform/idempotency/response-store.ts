import type { Pool } from 'pg';
import { DAY_MS } from '../../kernel/clock.js';
import { NIL_UUID } from '../../kernel/ids.js';
import { RESPONSES_KEPT_DAYS } from '../../kernel/idempotency.js';
import type { CommitResult, StoredResponse } from '../event-store/port.js';
import { bounded } from '../postgres/session-settings.js';
import { deleteBefore } from '../postgres/batches.js';

/** Where responses are written: `commit_units` of the PostgreSQL adapter, so that they group-commit under its lock. */
interface ResponseWriter {
  commit(commit: { readonly appends: readonly []; readonly response: StoredResponse }): Promise<CommitResult>;
}

interface ResponseRow {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

interface SealedRow {
  readonly key: string;
  /** Text, because a Date would lose the microseconds. */
  readonly created_at: string;
}

/** Sealed responses opened at a time. */
const PAGE = 500;

/** Responses of requests with an Idempotency-Key, by scope and key; always in PostgreSQL, kept 30 days (contract.md 4.4). */
export class ResponseStore {
  /** Fingerprints of the requests in progress in this process, by scope and key. */
  readonly inFlight = new Map<string, string>();

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
        text: 'select fingerprint, status, body from event_store.responses where scope = $1 and key = $2',
        values: [scope, key],
      }),
    );
    const [row] = rows;
    return row ? { scope, key, ...row } : null;
  }

  /** Sealed responses of the scope that were stored since then, in pages. */
  async *sealed(scope: string, since: Date): AsyncGenerator<readonly StoredResponse[]> {
    for (let after: SealedRow = { created_at: since.toISOString(), key: NIL_UUID }; ;) {
      const { rows } = await this.pool.query<SealedRow & ResponseRow>(
        `select key, created_at::text, fingerprint, status, body from event_store.responses
         where scope = $1 and body like 'sealed:%' and (created_at, key) > ($2::timestamptz, $3::uuid)
         order by created_at, key limit ${PAGE}`,
        [scope, after.created_at, after.key],
      );
      yield rows.map(({ key, fingerprint, status, body }) => ({ scope, key, fingerprint, status, body }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = last;
    }
  }

  async delete(responses: readonly Pick<StoredResponse, 'scope' | 'key'>[]): Promise<void> {
    await this.pool.query(
      `delete from event_store.responses using unnest($1::text[], $2::uuid[]) gone (scope, key)
       where responses.scope = gone.scope and responses.key = gone.key`,
      [responses.map(({ scope }) => scope), responses.map(({ key }) => key)],
    );
  }

  /** Deletes responses older than 30 days before `now`; returns how many. */
  purge(now: Date, signal?: AbortSignal): Promise<number> {
    const before = new Date(now.getTime() - RESPONSES_KEPT_DAYS * DAY_MS);
    return deleteBefore(this.pool, 'event_store.responses', 'created_at < $1', before, signal);
  }
}
