import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { deleteBefore } from '../../../platform/postgres/chunks.js';
import { pause } from '../../../platform/background/backoff.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';

/** A time from `from`, inclusive, to `to`, exclusive. Its name orders as it does. */
interface Period {
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

interface Periods {
  /** The period `offset` periods after the one that holds the instant. */
  at(instant: Date, offset: number): Period;
}

/** Days in UTC: all have 24 hours. Named `20260131`. */
export const DAYS = periods(8, (instant, offset) =>
  Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth(), instant.getUTCDate() + offset),
);

/** Months in UTC. Named `202601`. */
export const MONTHS = periods(6, (instant, offset) =>
  Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + offset),
);

function periods(digits: number, startOf: (instant: Date, offset: number) => number): Periods {
  return {
    at(instant, offset) {
      const [from, to] = [offset, offset + 1].map((each) => new Date(startOf(instant, each))) as [Date, Date];
      return { name: from.toISOString().replaceAll('-', '').slice(0, digits), from, to };
    },
  };
}

const HOUR_MS = 3_600_000;
/** Key of the advisory lock under which partitions are created and dropped. */
const PARTITIONS_LOCK = 7_331_070;
/** How long acceptances may queue behind a drop that waits for a lock. */
const DROP_LOCK_TIMEOUT_MS = 250;
/** A stalled process loses the lock after this. */
const DROP_STALLED_MS = 1000;
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
 * Creates the partitions of `tracking.batches` and `tracking.events` ahead of time, drops expired ones, and deletes ids
 * as old as dropped events. Safe in any number of processes (ADR 82).
 */
@Injectable()
export class Partitions implements OnModuleInit {
  private readonly log = new Logger(Partitions.name);
  @Background()
  readonly work = new BackgroundWork({
    name: 'partitions',
    everyMs: HOUR_MS,
    role: 'any',
    run: (signal) => this.maintain(signal),
  });

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'roles' | 'trackingRawDays' | 'trackingRetentionMonths'>,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.ensure();
  }

  /**
   * Creates missing partitions from the day and month before the present on, by the clocks of the database and of this
   * process, and those of the `instants`.
   */
  async ensure(instants: readonly Date[] = []): Promise<void> {
    const clocks = await this.clocks();
    const missing = await this.missing(clocks, instants);
    if (missing.length === 0) return;
    await this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
      // Another process may have created them since.
      for (const [table, period] of await this.missing(clocks, instants, tx))
        await createPartition(table, period, tx);
    });
  }

  /**
   * Runs `work`, and again when a row has no partition: no process was up when its month began, or a clock jumped.
   * `instants` are the `received_at` of its rows.
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

  /** Drops expired partitions, by the clock that is behind: one that jumped ahead must not delete years. */
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

  private async maintain(signal: AbortSignal): Promise<void> {
    await this.ensure();
    if (this.config.roles.includes('worker')) await this.drop(signal);
  }

  private async missing(
    clocks: readonly Date[],
    instants: readonly Date[],
    tx?: PoolClient,
  ): Promise<(readonly [PartitionedTable, Period])[]> {
    const existing = new Set((await this.existing(tx)).map(({ name }) => name));
    return [BATCHES, EVENTS].flatMap((table) => {
      const { periods, ahead } = table;
      const around = clocks.flatMap((now) =>
        Array.from({ length: ahead + 2 }, (_, index) => periods.at(now, index - 1)),
      );
      const needed = [...around, ...instants.map((instant) => periods.at(instant, 0))];
      const byName = new Map(needed.map((period) => [`${table.name}_${period.name}`, period]));
      return [...byName]
        .filter(([name]) => !existing.has(name))
        .map(([, period]) => [table, period] as const);
    });
  }

  private async existing(tx?: PoolClient): Promise<readonly { name: string }[]> {
    const sql = `select child.relname as name from pg_inherits
      join pg_class child on child.oid = inhrelid
      where inhparent in ('tracking.batches'::regclass, 'tracking.events'::regclass)`;
    return tx ? (await tx.query<{ name: string }>(sql)).rows : this.database.query<{ name: string }>(sql);
  }

  /** Whether none is left. */
  private async dropBefore(
    { name: table, periods }: PartitionedTable,
    end: Date,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const first = `${table}_${periods.at(end, 0).name}`;
    const old = (await this.existing()).map(({ name }) => name).filter((name) => isOlder(name, table, first));
    for (const name of old.sort()) {
      for (let attempt = 1; attempt <= DROP_TRIES && !signal?.aborted; attempt += 1) {
        const outcome = await this.dropOne(table, name);
        if (outcome === 'dropped') this.log.log(`partition dropped: ${name}`);
        if (outcome === 'unfinished') this.log.warn(`partition not dropped: ${name} has unfinished batches`);
        if (outcome !== 'busy') break;
        await pause(DROP_PAUSE_MS, signal);
      }
    }
    return !(await this.existing()).some(({ name }) => isOlder(name, table, first));
  }

  private async dropOne(table: string, name: string): Promise<'dropped' | 'unfinished' | 'gone' | 'busy'> {
    try {
      return await this.database.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock($1)', [PARTITIONS_LOCK]);
        if (!(await this.existing(tx)).some((each) => each.name === name)) return 'gone';
        if (table === 'batches' && (await hasUnfinished(name, tx))) return 'unfinished';
        await tx.query(
          `set local lock_timeout = ${DROP_LOCK_TIMEOUT_MS};
           set local idle_in_transaction_session_timeout = ${DROP_STALLED_MS}`,
        );
        // Every statement locks in this order; from here on no row can be added.
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
async function createPartition(
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
