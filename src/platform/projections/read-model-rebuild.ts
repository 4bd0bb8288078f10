import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DomainError } from '../../kernel/domain-error.js';
import { waitForRetry } from '../jobs/backoff.js';
import { EventCodec } from '../event-store/event-codec.js';
import { logPages } from '../event-store/log-pages.js';
import { comparePositions, EVENT_STORE, type EventStore, type RecordedEvent } from '../event-store/port.js';
import { currentOperation } from '../event-store/command-loop.js';
import { recordRowChange } from '../postgres/row-changes.js';
import { Database } from '../postgres/database.js';
import { Checkpoints } from './checkpoints.js';
import type { TableComparison } from './compare-tables.js';
import { PassingTypes } from './passing-types.js';
import { isReadModel, type ReadModel } from './projection.js';
import { WITHOUT_TIMEOUTS } from '../postgres/session-settings.js';
import { isLockTimeout } from '../postgres/unavailable.js';
import { ShadowTables } from './shadow-tables.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import type { TableCheck } from './table-check.js';

/** The delays between attempts to lock tables in use. */
const RETRY = { firstMs: 50, maxMs: 5000 };
/** The number of attempts in about an hour. */
const ATTEMPTS = 800;
/** The failed attempts after which a line about the wait is printed. */
const PRINT_EVERY = 12;
/** The number of passes over later events before the checkpoint is locked. */
const CATCH_UPS = 3;
/** The rebuild holds no lock that others wait for, except during the swap, where a stalled one loses its locks. */
const BEGIN = `begin; ${WITHOUT_TIMEOUTS}; set local idle_in_transaction_session_timeout = '10min';
  set local maintenance_work_mem = '256MB'; set local max_parallel_workers_per_gather = 0`;
const BEGIN_CHECK = `begin isolation level repeatable read; ${WITHOUT_TIMEOUTS};
  set local maintenance_work_mem = '128MB'; set local work_mem = '64MB'`;
const SWAP = `savepoint swap; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'`;

export interface Rebuilt {
  readonly name: string;
  readonly events: number;
  readonly position: string | null;
  /** The comparison of the live tables before the rebuild, or null. */
  readonly compared: readonly TableComparison[] | null;
}

/** Reads the log after a position, up to `end` or, if absent, to the end of the log. */
type ReadPages = (after: string | null, end?: string | null) => AsyncIterable<readonly RecordedEvent[]>;

interface RebuildOptions {
  /** Compares the live tables with the events first; true when absent. */
  readonly compare?: boolean;
  readonly compareOnly?: boolean;
  /** Receives lines about its waits. */
  readonly print?: (line: string) => void;
}

/** Rebuilds a read model in shadow tables up to its checkpoint, and compares them with the live ones in a snapshot. */
export class ReadModelCheck implements TableCheck {
  private constructor(
    /** The name of the checkpoint. */
    readonly name: string,
    private readonly tx: PoolClient,
    private readonly shadow: ShadowTables,
    readonly position: string | null,
  ) {}

  /**
   * Begins a check, which holds a connection until {@link drop}. `open` begins the snapshot and reads the checkpoint
   * in it.
   */
  static async begin(
    database: Database,
    codec: EventCodec,
    definition: ReadModel,
    open: (tx: PoolClient) => Promise<string | null>,
  ): Promise<ReadModelCheck> {
    const tx = await database.pool.connect();
    try {
      await tx.query(BEGIN_CHECK);
      const position = await open(tx);
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      const how = { prefix: `checked_${rows[0]!.pid}`, kind: 'unlogged' } as const;
      const shadow = await ShadowTables.create(tx, codec, definition, how);
      return new ReadModelCheck(definition.name, tx, shadow, position);
    } catch (error) {
      tx.release(true);
      throw error;
    }
  }

  get events(): number {
    return this.shadow.events;
  }

  add(page: readonly RecordedEvent[]): Promise<void> {
    return this.shadow.add(page.filter(({ position }) => comparePositions(position, this.position) <= 0));
  }

  compare(): Promise<readonly TableComparison[]> {
    return this.shadow.compare();
  }

  async drop(): Promise<void> {
    await this.shadow.stop();
    const rolledBack = await this.tx.query('rollback').catch(() => null);
    this.tx.release(rolledBack === null);
  }
}

/**
 * Rebuilds read models from the first event while the service runs. It fills shadow tables, which replace the live ones
 * in the end (ADR 99). Until then readers and the runner use the live tables.
 */
@Injectable()
export class ReadModelRebuild {
  constructor(
    private readonly registry: SubscriptionRegistry,
    private readonly checkpoints: Checkpoints,
    private readonly codec: EventCodec,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly database: Database,
    private readonly passing: PassingTypes,
  ) {}

  names(): readonly string[] {
    return this.registry
      .all()
      .filter(isReadModel)
      .map(({ name }) => name);
  }

  /**
   * Rebuilds a read model. Throws for a name that is unknown, a saga or in a rebuild, and for tables that stay locked
   * for an hour.
   */
  async rebuild(
    name: string,
    { compare = true, compareOnly = false, print = () => undefined }: RebuildOptions = {},
  ): Promise<Rebuilt> {
    const definition = this.registry.get(name);
    if (!isReadModel(definition)) throw new Error(`${name} is not a read model and cannot be rebuilt`);
    await this.checkpoints.ensure([name]);
    const passing = await this.passing.all();
    const pages: ReadPages = (after, end) => this.knownPages(definition, passing, { after, end });
    const checked = compare || compareOnly ? await this.compare(definition, pages) : null;
    const rebuilt = compareOnly
      ? checked!
      : await this.database.transaction((tx) => this.replace(definition, pages, tx, print), { begin: BEGIN });
    return { name, events: rebuilt.events, position: rebuilt.position, compared: checked?.compared ?? null };
  }

  /** Reads the log. Throws at a forged event, and at an unknown type that is not in `passing`. */
  private async *knownPages(
    { events }: ReadModel,
    passing: ReadonlySet<string>,
    extent: Parameters<typeof logPages>[1],
  ): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const names = new Set(events);
    for await (const page of logPages(this.store, extent)) {
      for (const { type, stream, position, isForged } of page) {
        if (isForged)
          throw new DomainError('unavailable', `The event at position ${position} of ${stream} is forged`);
        if (names.has(this.codec.currentName(type)) || this.codec.knows(type) || passing.has(type)) continue;
        throw new DomainError('unavailable', `This version does not know ${type}, at position ${position}`);
      }
      yield page;
    }
  }

  private async compare(definition: ReadModel, pages: ReadPages): Promise<Omit<Rebuilt, 'name'>> {
    const { name, tables } = definition;
    const check = await ReadModelCheck.begin(this.database, this.codec, definition, async (tx) => {
      // The locks precede the snapshot, which would find no rows in tables that a rebuild swaps in later.
      const live = tables.names.map((each) => `${tables.schema}.${each}`).join(', ');
      await tx.query(`lock table ${live} in access share mode`);
      await lockRebuild(tx, name);
      return this.checkpoints.of(name, tx);
    });
    try {
      const { position } = check;
      for await (const page of pages(null, position)) await check.add(page);
      return { events: check.events, position, compared: await check.compare() };
    } finally {
      await check.drop();
    }
  }

  private async replace(
    definition: ReadModel,
    pages: ReadPages,
    tx: PoolClient,
    print: (line: string) => void,
  ): Promise<Pick<Rebuilt, 'events' | 'position'>> {
    const { name } = definition;
    await lockRebuild(tx, name);
    const shadow = await ShadowTables.create(tx, this.codec, definition);
    const catchUp = async (end?: string | null): Promise<void> => {
      try {
        for await (const page of pages(shadow.position, end)) await shadow.add(page);
        await shadow.settle();
      } finally {
        await shadow.stop();
      }
    };
    await catchUp();
    await shadow.complete();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      for (let pass = 0; pass < CATCH_UPS; pass += 1)
        await catchUp((await this.checkpoints.read([name])).get(name) ?? null);
      const { events, position } = shadow;
      try {
        await tx.query(SWAP);
        const runner = await this.checkpoints.of(name, tx, 'for update');
        await catchUp(runner);
        await shadow.replaceLive();
        if (comparePositions(shadow.position, runner) > 0)
          await this.checkpoints.set(name, shadow.position, tx);
        await recordRowChange(tx, currentOperation()?.id, 'read_model', name);
        return shadow;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        await tx.query('rollback to savepoint swap; release savepoint swap');
        Object.assign(shadow, { events, position });
      }
      if (attempt % PRINT_EVERY === 0)
        print(`${name} is complete and waits for its tables, which other sessions read`);
      await waitForRetry(RETRY, attempt - 1);
    }
    throw new DomainError(
      'unavailable',
      `${name} was not replaced: other sessions read its tables all the time (pg_locks)`,
    );
  }
}

async function lockRebuild(tx: PoolClient, name: string): Promise<void> {
  const lock = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as acquired';
  const { rows } = await tx.query<{ acquired: boolean }>(lock, [`rebuild ${name}`]);
  if (!rows[0]!.acquired)
    throw new DomainError('invalid_transition', `A rebuild of ${name} is running already`);
}
