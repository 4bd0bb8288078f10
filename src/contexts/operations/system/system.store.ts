import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { STRINGS, TEXT, TIME, UUID } from '../../../platform/dto/rules.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { MAX_DUE, type BacklogState } from '../../../platform/operations/system-report.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { ProcessFacts, type ReportedFacts } from '../../../platform/telemetry/process-facts.js';
import { VERSION } from '../../../platform/version.js';

export class RunningProcess {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(TEXT) version!: string;
  @ApiProperty(STRINGS) roles!: readonly string[];
  @ApiProperty(TIME) started_at!: Date;

  @ApiProperty({
    type: 'number',
    description: "How far its clock is ahead of the database's; negative: behind.",
  })
  clock_skew_ms!: number;
}

export interface ProcessRow extends RunningProcess {
  readonly facts: ReportedFacts;
}

const EVERY_MS = 3000;
/** The age of a heartbeat after which a process counts as dead. */
const DEAD_AFTER_SECONDS = 60;

/** Reads processes (`platform.processes`) and due work (`work.items`), and reports this process to others. */
@Injectable()
export class SystemTables implements OnApplicationShutdown {
  private readonly id = randomUUID();
  private readonly startedAt = new Date();

  constructor(
    private readonly database: Database,
    private readonly clock: ClockCheck,
    private readonly facts: ProcessFacts,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {}

  /** Deletes the row of this process, so that operators no longer see it. */
  async onApplicationShutdown(): Promise<void> {
    if (this.config.roles.length === 0) return;
    const sql = 'delete from platform.processes where process_id = $1';
    await this.database.query(sql, [this.id]).catch(() => undefined);
  }

  /** Writes the row of this process, and drops the rows of dead processes. */
  @Periodic({ name: 'operations.heartbeat', everyMs: EVERY_MS, role: 'any' })
  async beat(): Promise<void> {
    const [skew, facts] = await Promise.all([this.clock.skewSeconds(), this.facts.read()]);
    await this.database.query(
      `with dead as (
         delete from platform.processes
         where seen_at < clock_timestamp() - ${DEAD_AFTER_SECONDS} * interval '1 s' and process_id <> $1
       )
       insert into platform.processes (process_id, version, roles, started_at, seen_at, clock_skew_ms, facts)
       values ($1, $2, $3, $4, clock_timestamp(), $5, $6)
       on conflict (process_id) do update set seen_at = excluded.seen_at, clock_skew_ms = excluded.clock_skew_ms,
         facts = excluded.facts`,
      [this.id, VERSION, this.config.roles, this.startedAt, skew * 1000, JSON.stringify(facts)],
    );
  }

  async alive(): Promise<readonly ProcessRow[]> {
    return this.database.query<ProcessRow>(
      `select process_id as id, version, roles, started_at, round(clock_skew_ms)::float8 as clock_skew_ms, facts
       from platform.processes where seen_at >= clock_timestamp() - ${DEAD_AFTER_SECONDS} * interval '1 s'
       order by started_at, process_id`,
    );
  }

  async backlogs(): Promise<readonly BacklogState[]> {
    // A skip scan of the primary key finds the kinds: a backlog may have millions of rows.
    const rows = await this.database.query<{ name: string; due: number; oldest_at: Date | null }>(
      `with recursive kinds as (
         (select kind from work.items order by kind limit 1)
         union all
         select (select kind from work.items where kind > last.kind order by kind limit 1)
         from kinds last where last.kind is not null
       )
       select kinds.kind as name, count(due.due_at)::int as due, min(due.due_at) as oldest_at
       from kinds left join lateral (
         select due_at from work.items item where item.kind = kinds.kind and due_at <= now() limit ${MAX_DUE}
       ) due on true
       where kinds.kind is not null group by kinds.kind order by kinds.kind`,
    );
    return rows.map((row) => ({ ...row, oldest_at: row.oldest_at?.toISOString() ?? null }));
  }
}
