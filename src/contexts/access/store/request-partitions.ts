import { Injectable } from '@nestjs/common';
import { DAY_MS, HOUR_MS } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { deleteBefore } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';

/** The log has the last seven days: today's, and seven before it. */
const REQUESTS_KEPT_DAYS = 7;
const CREATED_AHEAD_DAYS = 3;
const USAGE_KEPT_DAYS = 90;
/** Half of the key of an advisory lock; the other is that of the table. */
const PARTITIONS_LOCK = 7331021;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const nameOf = (day: string): string => `requests_${day.replaceAll('-', '')}`;

/** Creates and drops the partitions of `access.requests`, one per day in UTC, by the database's clock. */
@Injectable()
export class RequestPartitions {
  @Background()
  readonly work = new BackgroundWork({
    name: 'partitions of the request log',
    everyMs: HOUR_MS,
    role: 'any',
    run: (signal) => this.keep(signal),
  });

  constructor(private readonly database: Database) {}

  /** `now`: for tests; the database's clock when absent. */
  async keep(signal?: AbortSignal, now?: Date): Promise<void> {
    const today = (now ?? (await this.now())).getTime();
    await this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
      const { rows } = await tx.query<{ name: string }>(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = 'access.requests'::regclass`,
      );
      const present = new Set(rows.map(({ name }) => name));
      for (let day = -1; day <= CREATED_AHEAD_DAYS; day += 1) {
        const [from, to] = [dayOf(today + day * DAY_MS), dayOf(today + (day + 1) * DAY_MS)];
        if (!present.has(nameOf(from)))
          await tx.query(
            `create table access.${nameOf(from)} partition of access.requests
             for values from ('${from}T00:00:00Z') to ('${to}T00:00:00Z')`,
          );
      }
      const first = nameOf(dayOf(today - REQUESTS_KEPT_DAYS * DAY_MS));
      for (const name of present) if (name < first) await tx.query(`drop table access.${name}`);
    });
    const before = new Date(today - USAGE_KEPT_DAYS * DAY_MS);
    await deleteBefore(this.database.pool, 'access.daily_requests', 'day < $1::date', before, signal);
  }

  private async now(): Promise<Date> {
    const [row] = await this.database.query<{ now: Date }>('select clock_timestamp() as now');
    return row!.now;
  }
}
