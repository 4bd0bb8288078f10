import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { RESPONSES_KEPT_DAYS } from '../../kernel/repeats.js';
import { bounded } from '../postgres/bounded.js';
import type { CommitResult, StoredAnswer } from '../event-store/port.js';

/** Where answers are written: `commit_units` of the PostgreSQL adapter, so that they group-commit under its lock. */
export interface AnswerWriter {
  commit(commit: { readonly appends: readonly []; readonly answer: StoredAnswer }): Promise<CommitResult>;
}

interface AnswerRow {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

const CHUNK = 5000;

/** Answers of requests with an Idempotency-Key, always in PostgreSQL, kept 30 days (contract.md 4.4). */
@Injectable()
export class PostgresAnswerStore {
  constructor(
    private readonly pool: Pool,
    private readonly writer: AnswerWriter,
  ) {}

  /** Stores the answer and returns null, unless the key was answered before: then that answer. */
  async storeOrGet(answer: StoredAnswer): Promise<StoredAnswer | null> {
    const result = await this.writer.commit({ appends: [], answer });
    return result.outcome === 'answered' ? result.answer : null;
  }

  async find(scope: string, key: string): Promise<StoredAnswer | null> {
    const { rows } = await this.pool.query<AnswerRow>(
      bounded({
        name: 'event_store.find_answer',
        text: 'select fingerprint, status, body from event_store.answers where scope = $1 and key = $2',
        values: [scope, key],
      }),
    );
    const [row] = rows;
    return row ? { scope, key, ...row } : null;
  }

  /** Deletes answers older than 30 days before `now`, in chunks that hold no lock for long; returns how many. */
  async purge(now: Date): Promise<number> {
    const before = new Date(now.getTime() - RESPONSES_KEPT_DAYS * 86_400_000);
    for (let total = 0; ;) {
      const { rowCount } = await this.pool.query(
        `delete from event_store.answers where ctid = any(array(
           select ctid from event_store.answers where created_at < $1 limit $2))`,
        [before, CHUNK],
      );
      total += rowCount ?? 0;
      if ((rowCount ?? 0) < CHUNK) return total;
    }
  }
}
