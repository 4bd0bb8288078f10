import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, DAY_MS, HOUR_MS, type Clock } from '../../kernel/clock.js';
import { NIL_UUID } from '../../kernel/ids.js';
import { RESPONSES_KEPT_DAYS } from '../../kernel/idempotency.js';
import { Periodic } from '../jobs/background-work.js';
import { OPEN_EVENT_STORE, type OpenEventStore } from '../event-store/open-event-store.js';
import type { StoredResponse } from '../event-store/port.js';
import { deleteBefore } from '../postgres/batches.js';
import { earlierNow } from '../postgres/clock-check.js';
import { Database } from '../postgres/database.js';
import { bounded } from '../postgres/session-settings.js';
import { SealError, Sealer } from '../sealing/sealer.js';
import { ResponseSeal } from './ticket.js';

/** A row with its time as a text, because a Date has no microseconds. */
type ResponseRow = StoredResponse & { readonly created_at: string };

const PAGE = 500;

/** The maximum difference between the clocks of two processes, which date a response and a person. */
const MARGIN_MS = DAY_MS;
const IDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

/** The responses of requests with an Idempotency-Key, in PostgreSQL, kept 30 days (contract.md 4.4). */
@Injectable()
export class ResponseStore {
  /** Fingerprints of the requests in progress in this process, by scope and key. */
  readonly inFlight = new Map<string, string>();
  readonly seal: ResponseSeal;
  /** The PostgreSQL store. Its function `commit_units` commits groups of responses under a lock. */
  private readonly store: OpenEventStore['responses'];

  constructor(
    @Inject(OPEN_EVENT_STORE) { responses }: Pick<OpenEventStore, 'responses'>,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    sealer: Sealer,
  ) {
    this.store = responses;
    this.seal = new ResponseSeal(sealer);
  }

  /** Stores the response and returns null, or returns the response that the key already has. */
  async storeOrGet(response: StoredResponse): Promise<StoredResponse | null> {
    const result = await this.store.commit({ appends: [], response });
    return result.outcome === 'responded' ? result.response : null;
  }

  async find(scope: string, key: string): Promise<StoredResponse | null> {
    const { rows } = await this.store.pool.query<Omit<StoredResponse, 'scope' | 'key'>>(
      bounded({
        name: 'event_store.find_response',
        text: `select fingerprint, status, body from event_store.responses
               where scope = $1 and key = $2`,
        values: [scope, key],
      }),
    );
    // The MAC is checked with the scope and the key of the request.
    return rows[0] === undefined ? null : { scope, key, ...rows[0] };
  }

  /** Deletes sealed responses with a `named` id, from `since` (ISO 8601) on. Returns false if aborted. */
  async drop(
    { named, scope, since }: { named: readonly string[]; scope: string; since: string },
    signal?: AbortSignal,
  ): Promise<boolean> {
    const known = new Set(named);
    const first = new Date(Date.parse(since) - MARGIN_MS).toISOString();
    for (let after = { created_at: first, key: NIL_UUID }; ;) {
      const { rows } = await this.store.pool.query<ResponseRow>(
        `select scope, key, created_at::text, fingerprint, status, body from event_store.responses
         where scope = $1 and body like 'sealed:%' and (created_at, key) > ($2::timestamptz, $3::uuid)
         order by created_at, key limit ${PAGE}`,
        [scope, after.created_at, after.key],
      );
      const keys = rows
        .filter((row) =>
          this.readBody(row)
            .match(IDS)
            ?.some((id) => known.has(id)),
        )
        .map(({ key }) => key);
      await this.store.pool.query(
        'delete from event_store.responses where scope = $1 and key = any($2::uuid[])',
        [scope, keys],
      );
      if (signal?.aborted) return false;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return true;
      after = last;
    }
  }

  /** Deletes responses over 30 days old. `now` defaults to the earlier of process and database clock. */
  @Periodic({ name: 'retention of stored responses', everyMs: HOUR_MS })
  async purge(signal?: AbortSignal, now?: Date): Promise<number> {
    const latest = now ?? (await earlierNow(this.database, this.clock));
    const before = new Date(latest.getTime() - RESPONSES_KEPT_DAYS * DAY_MS);
    return deleteBefore(this.store.pool, 'event_store.responses', 'created_at < $1', before, signal);
  }

  /** Returns the opened body, or an empty text if the seal is invalid. */
  private readBody(response: StoredResponse): string {
    try {
      return this.seal.open(response).body;
    } catch (error) {
      if (error instanceof SealError) return '';
      throw error;
    }
  }
}
