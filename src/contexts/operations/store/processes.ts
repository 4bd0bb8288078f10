import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { ReportedFacts } from '../../../platform/telemetry/process-facts.js';

/** A row of `platform.processes`. */
export interface ProcessRow {
  readonly id: string;
  readonly version: string;
  readonly roles: readonly string[];
  readonly startedAt: Date;
  readonly clockSkewMs: number;
  readonly facts: ReportedFacts;
}

/** A process that did not beat for this long is dead. */
const DEAD_AFTER_SECONDS = 60;
/** Of one row. */
const MAX_FACTS_BYTES = 65_536;

/** The processes of the service, in `platform.processes`. */
@Injectable()
export class Processes {
  constructor(private readonly database: Database) {}

  /** Inserts or renews the row, and drops those of dead processes. Facts that are too large are left out. */
  async beat({ id, version, roles, startedAt, clockSkewMs, facts }: ProcessRow): Promise<void> {
    const text = JSON.stringify(facts);
    const none: ReportedFacts = { schedules: [], halted: [], nodes: [], providers: [] };
    await this.database.query(
      `with dead as (
         delete from platform.processes
         where seen_at < clock_timestamp() - $7 * interval '1 s' and process_id <> $1
       )
       insert into platform.processes (process_id, version, roles, started_at, seen_at, clock_skew_ms, facts)
       values ($1, $2, $3, $4, clock_timestamp(), $5, $6)
       on conflict (process_id) do update set seen_at = excluded.seen_at, clock_skew_ms = excluded.clock_skew_ms,
         facts = excluded.facts`,
      [
        id,
        version,
        roles,
        startedAt,
        clockSkewMs,
        Buffer.byteLength(text) > MAX_FACTS_BYTES ? JSON.stringify(none) : text,
        DEAD_AFTER_SECONDS,
      ],
    );
  }

  async drop(id: string): Promise<void> {
    await this.database.query('delete from platform.processes where process_id = $1', [id]);
  }

  /** Those that are alive, the oldest first. */
  async alive(): Promise<readonly ProcessRow[]> {
    return this.database.query<ProcessRow & Record<string, unknown>>(
      `select process_id as id, version, roles, started_at as "startedAt", clock_skew_ms as "clockSkewMs", facts
       from platform.processes where seen_at >= clock_timestamp() - $1 * interval '1 s'
       order by started_at, process_id`,
      [DEAD_AFTER_SECONDS],
    );
  }
}
