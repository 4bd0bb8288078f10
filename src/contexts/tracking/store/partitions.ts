import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { deleteBefore } from '../../../platform/postgres/chunks.js';
import { pause } from '../../../platform/background/backoff.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { DAYS, MONTHS, type Period, type Periods } from './periods.js';

const HOUR_MS = 3_600_000;
/** Key of the advisory lock under which partitions are made and dropped. */
const PARTITIONS_LOCK = 7_331_070;
/** How long acceptances may have to queue behind a drop that waits for somebody else; then it waits for another time. */
const DROP_PATIENCE_MS = 250;
/** A process that stands still with the lock loses it after this. */
const DROP_STANDSTILL_MS = 1000;
const DROP_TRIES = 5;
const DROP_PAUSE_MS = 1000;
const CHECK_VIOLATION = '23514';
const LOCK_NOT_AVAILABLE = '55P03';

/** A table that is partitioned by periods of `received_at`, created `ahead` periods before they begin. */
interface PartitionedTable {
  readonly name: 'batches' | 'events';
  readonly periods: Periods;
  readonly ahead: number;
}
const BATCHES: PartitionedTable = { name: 'batches', periods: DAYS, ahead: 7 };
const EVENTS: PartitionedTable = { name: 'events', periods: MONTHS, ahead: 2 };

/**
 * Creates the partitions of `tracking.batches` and `tracking.events` ahead of time. Drops those whose time is over, and
 * deletes what is as old as dropped events.
 * Any number of processes may do so at once (ADR 82).
 */
@Injectable()
export class Partitions implements OnModuleInit {
  private readonly log = new Logger(Partitions.name);
  readonly work = new BackgroundWork({
    name: 'partitions',
    everyMs: HOUR_MS,
    role: 'any',
    run: (signal) => this.turn(signal),
  });

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'roles' | 'trackingRawDays' | 'trackingRetentionMonths'>,
  ) {}

  /** Before the process serves. */
  async onModuleInit(): Promise<void> {
    await this.ensure();
  }

  /**
   * Makes what is missing of yesterday, today and the days ahead, and of the months around them, by the clocks of the
   * database and of this process, and of the days and months of the `instants` besides.
   */
  async ensure(instants: readonly Date[] = []): Promise<void> {
    const clocks = await this.clocks();
    const missing = await this.missing(clocks, instants);
    if (missing.length === 0) return;
    await this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
      // Another process may have made them since.
      for (const [table, period] of await this.missing(clocks, instants, tx)) await make(table, period, tx);
    });
  }

  /**
   * Runs `work`, and runs it once more when it met a row without a partition: no process may have been up when its
   * month began, or a clock jumped. `instants` are the `received_at` of its rows if they are not of this moment.
   */
  async having<T>(work: () => Promise<T>, instants: readonly Date[] = []): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isMissingPartition(error)) throw error;
      await this.ensure(instants);
      return work();
    }
  }

  /**
   * Drops partitions of batches and events that have been kept for their time, by the clock that is behind: one that
   * jumped ahead shall not take years with it.
   */
  async drop(signal?: AbortSignal): Promise<void> {
    const now = await earlierNow(this.database, this.clock);
    const oldest = MONTHS.at(now, -this.config.trackingRetentionMonths).from;
    await this.dropBefore(BATCHES, DAYS.at(now, -this.config.trackingRawDays).from, signal);
    if (!(await this.dropBefore(EVENTS, oldest, signal))) return;
    // Once its event is gone an id is new again.
    await deleteBefore(this.database.pool, 'tracking.event_ids', 'received_at', oldest, signal);
    await deleteBefore(this.database.pool, 'tracking.refused_events', 'refused_at', oldest, signal);
  }

  private async clocks(): Promise<readonly Date[]> {
    const [row] = await this.database.query<{ now: Date }>('select clock_timestamp() as now');
    return [row!.now, this.clock.now()];
  }

  private async turn(signal: AbortSignal): Promise<void> {
    await this.ensure();
    if (this.config.roles.includes('worker')) await this.drop(signal);
  }

  private async missing(
    clocks: readonly Date[],
    instants: readonly Date[],
    tx?: PoolClient,
  ): Promise<(readonly [PartitionedTable, Period])[]> {
    const made = new Set((await this.made(tx)).map(({ name }) => name));
    return [BATCHES, EVENTS].flatMap((table) => {
      const { periods, ahead } = table;
      const around = clocks.flatMap((now) =>
        Array.from({ length: ahead + 2 }, (_, index) => periods.at(now, index - 1)),
      );
      const wanted = [...around, ...instants.map((instant) => periods.at(instant, 0))];
      const byName = new Map(wanted.map((period) => [`${table.name}_${period.name}`, period]));
      return [...byName].filter(([name]) => !made.has(name)).map(([, period]) => [table, period] as const);
    });
  }

  private async made(tx?: PoolClient): Promise<readonly { name: string }[]> {
    const sql = `select child.relname as name from pg_inherits
      join pg_class child on child.oid = inhrelid
      where inhparent in ('tracking.batches'::regclass, 'tracking.events'::regclass)`;
    return tx ? (await tx.query<{ name: string }>(sql)).rows : this.database.query<{ name: string }>(sql);
  }

  /** Whether none of them is left. */
  private async dropBefore(
    { name: table, periods }: PartitionedTable,
    end: Date,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const first = `${table}_${periods.at(end, 0).name}`;
    const old = (await this.made()).map(({ name }) => name).filter((name) => isOlder(name, table, first));
    for (const name of old.sort()) {
      for (let attempt = 1; attempt <= DROP_TRIES && !signal?.aborted; attempt += 1) {
        const outcome = await this.dropOne(table, name);
        if (outcome === 'dropped') this.log.log(`partition ${name} is dropped`);
        if (outcome === 'unfinished')
          this.log.warn(`partition ${name} stays: batches in it are not finished`);
        if (outcome !== 'busy') break;
        await pause(DROP_PAUSE_MS, signal);
      }
    }
    return !(await this.made()).some(({ name }) => isOlder(name, table, first));
  }

  private async dropOne(table: string, name: string): Promise<'dropped' | 'unfinished' | 'gone' | 'busy'> {
    try {
      return await this.database.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
        if (!(await this.made(tx)).some((each) => each.name === name)) return 'gone';
        if (table === 'batches' && (await hasUnfinished(name, tx))) return 'unfinished';
        await tx.query(
          `set local lock_timeout = ${DROP_PATIENCE_MS};
           set local idle_in_transaction_session_timeout = ${DROP_STANDSTILL_MS}`,
        );
        // In this order, which is that of everybody else; from here on nothing can come to be in it.
        await tx.query(`lock table only tracking.${table} in access exclusive mode`);
        if (table === 'batches' && (await hasUnfinished(name, tx))) return 'unfinished';
        await tx.query(`drop table tracking.${name}`);
        return 'dropped';
      });
    } catch (error) {
      if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return 'busy';
      throw error;
    }
  }
}

/** Whether a row found no partition. */
export function isMissingPartition(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === CHECK_VIOLATION && String(message).startsWith('no partition of relation');
}

/** Attaching, unlike creating a partition in place, holds up no reader and no writer of the table. */
async function make(
  { name: table }: PartitionedTable,
  { name, from, to }: Period,
  tx: PoolClient,
): Promise<void> {
  const partition = `tracking.${table}_${name}`;
  await tx.query(
    `create table ${partition} (like tracking.${table} including defaults including constraints including storage)`,
  );
  await tx.query(
    `alter table tracking.${table} attach partition ${partition}
     for values from ('${from.toISOString()}') to ('${to.toISOString()}')`,
  );
}

async function hasUnfinished(partition: string, tx: PoolClient): Promise<boolean> {
  // One look into each of the small indexes of what is unfinished.
  const { rows } = await tx.query<{ unfinished: boolean }>(
    `select exists (select from tracking.${partition} where state = 'accepted')
       or exists (select from tracking.${partition} where state = 'processed') as unfinished`,
  );
  return rows[0]!.unfinished;
}

/** Names of one table have one length and order as their periods do. */
function isOlder(name: string, table: string, first: string): boolean {
  return name.startsWith(`${table}_`) && name.length === first.length && name < first;
}
