import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DomainError } from '../../kernel/domain-error.js';
import { waitForRetry } from '../background/backoff.js';
import { EventCodec } from '../event-store/event-codec.js';
import { logPages } from '../event-store/log-pages.js';
import { comparePositions, EVENT_STORE, type EventStore, type RecordedEvent } from '../event-store/port.js';
import { currentOperation } from '../event-store/command-loop.js';
import { recordRowChange } from '../postgres/row-changes.js';
import { Database } from '../postgres/database.js';
import { Checkpoints } from './checkpoints.js';
import type { TableComparison } from './compare-tables.js';
import { PassingTypes } from './passing-types.js';
import type { ReadModelTables } from './projection.js';
import { isReadModel, ReadModelCheck, type ReadModel } from './read-model-check.js';
import { WITHOUT_TIMEOUTS } from '../postgres/session-settings.js';
import { ShadowTables } from './shadow-tables.js';
import { SubscriptionRegistry } from './subscription-registry.js';

/** Between tries to lock tables that are being read. */
const RETRY = { firstMs: 50, maxMs: 5000 };
/** About an hour. */
const ATTEMPTS = 800;
/** After so many tries, and then every so many, it prints which sessions block it. */
const PRINT_EVERY = 12;
/** Passes that apply what the runner has applied meanwhile, before the checkpoint is locked. */
const CATCH_UPS = 3;
/** The fold holds no lock that another session waits for; a rebuild that stalls while it swaps must not keep its locks. */
const BEGIN = `begin; ${WITHOUT_TIMEOUTS}; set local idle_in_transaction_session_timeout = '10min';
  set local maintenance_work_mem = '256MB'; set local max_parallel_workers_per_gather = 0`;
const SWAP = `savepoint swap; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'`;

export interface ComparedTable extends TableComparison {
  /** `schema.name` of the live table. */
  readonly table: string;
}

export interface Rebuilt {
  readonly name: string;
  /** Events applied. */
  readonly events: number;
  readonly position: string | null;
  /** The live tables before the rebuild against the events; null: nothing was compared. */
  readonly compared: readonly ComparedTable[] | null;
}

interface RebuildOptions {
  /** Whether the live tables are compared with the events first; true when absent. */
  readonly compare?: boolean;
  /** Changes nothing. */
  readonly compareOnly?: boolean;
  /** Receives what it waits for. */
  readonly print?: (line: string) => void;
}

/** Progress of a replay. */
interface Replay {
  /** Everything up to here was applied. */
  position: string | null;
  /** Events applied. */
  events: number;
}

/**
 * Rebuilds read models from the first event while the service runs: into shadow tables, which replace the live ones at
 * the end (ADR 99). Until then readers see the live tables, and the runner keeps them up to date. The comparison is the
 * one of an audit ({@link ReadModelCheck}).
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

  /** Names of what can be rebuilt. Sagas cannot: they would do their work again. */
  names(): readonly string[] {
    return this.registry
      .all()
      .filter(isReadModel)
      .map(({ name }) => name);
  }

  /** Throws when `name` is unknown, a saga, or being rebuilt already, and when its tables are locked for an hour. */
  async rebuild(
    name: string,
    { compare = true, compareOnly = false, print = () => undefined }: RebuildOptions = {},
  ): Promise<Rebuilt> {
    const definition = this.registry.get(name);
    if (!isReadModel(definition)) throw new Error(`${name} is no read model: it does not replay`);
    await this.checkpoints.ensure([name]);
    const passing = await this.passing.all();
    const pages = (after: string | null, end?: string | null) =>
      this.knownPages(definition, passing, { after, ...(end !== undefined && { end }) });
    const replay: Replay = { position: null, events: 0 };
    const compared = compare || compareOnly ? await this.compare(definition, pages, replay) : null;
    if (!compareOnly) {
      Object.assign(replay, { position: null, events: 0 });
      const upTo = (end?: string | null) => this.replayed(definition, replay, pages(replay.position, end));
      await this.database.transaction((tx) => this.replace(definition, { replay, upTo, tx, print }), {
        begin: BEGIN,
      });
    }
    return { name, events: replay.events, position: replay.position, compared };
  }

  /** Every page of the log. Throws at a type that is unknown and not in `passing`: rows without it would be wrong for good. */
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

  private async *replayed(
    { events, staysSealed }: ReadModel,
    replay: Replay,
    pages: AsyncIterable<readonly RecordedEvent[]>,
  ): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const names = new Set(events);
    for await (const page of pages) {
      const relevant = page.filter(({ type }) => names.has(this.codec.currentName(type)));
      if (relevant.length > 0) yield await this.codec.decode(relevant, staysSealed);
      replay.events += relevant.length;
      replay.position = page.at(-1)!.position;
    }
  }

  private async compare(
    definition: ReadModel,
    pages: (after: null, end: string | null) => AsyncIterable<readonly RecordedEvent[]>,
    replay: Replay,
  ): Promise<readonly ComparedTable[]> {
    const { name, tables, events } = definition;
    const check = await ReadModelCheck.begin(this.database, this.codec, definition, async (tx) => {
      // Before the snapshot: in tables that a rebuild swaps in after it, no rows would be visible.
      await tx.query(`lock table ${namesOf(tables)} in access share mode`);
      await lockRebuild(tx, name);
      return this.checkpoints.of(name, tx);
    });
    try {
      const names = new Set(events);
      for await (const page of pages(null, check.position)) {
        await check.add(page);
        replay.events += page.filter(({ type }) => names.has(this.codec.currentName(type))).length;
      }
      replay.position = check.position;
      return [...(await check.compare())].map(([table, comparison]) => ({ table, ...comparison }));
    } finally {
      await check.drop();
    }
  }

  private async replace(definition: ReadModel, { replay, upTo, tx, print }: Replacement): Promise<void> {
    const { name, tables } = definition;
    await lockRebuild(tx, name);
    const shadow = await ShadowTables.create(tx, tables);
    await shadow.fill(definition, upTo());
    const catchUpWith = async (position: string | null): Promise<void> => {
      for await (const events of upTo(position)) await definition.apply(events, tx, shadow.schema);
    };
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      for (let pass = 0; pass < CATCH_UPS; pass += 1)
        await catchUpWith((await this.checkpoints.read([name])).get(name) ?? null);
      const before = { ...replay };
      try {
        await tx.query(SWAP);
        const runner = await this.checkpoints.hold(name, tx);
        await catchUpWith(runner);
        await shadow.replaceLive();
        if (comparePositions(replay.position, runner) > 0)
          await this.checkpoints.set(name, replay.position, tx);
        await recordRowChange(tx, currentOperation()?.id, 'read_model', name);
        return;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        await tx.query('rollback to savepoint swap; release savepoint swap');
        Object.assign(replay, before);
      }
      if (attempt % PRINT_EVERY === 0)
        print(`${name} is complete and waits for ${await readersOf(tables, tx)}`);
      await waitForRetry(RETRY, attempt - 1);
    }
    throw new DomainError(
      'unavailable',
      `${name} stays as it was: its tables are in use without a pause, by ${await readersOf(tables, tx)}`,
    );
  }
}

interface Replacement {
  readonly replay: Replay;
  /** Continues after {@link Replay.position}, up to `end`, or without one to the end of the log. */
  readonly upTo: (end?: string | null) => AsyncIterable<readonly RecordedEvent[]>;
  readonly tx: PoolClient;
  readonly print: (line: string) => void;
}

/** Until `tx` ends. */
async function lockRebuild(tx: PoolClient, name: string): Promise<void> {
  const lock = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as acquired';
  const { rows } = await tx.query<{ acquired: boolean }>(lock, [`rebuild ${name}`]);
  if (!rows[0]!.acquired)
    throw new DomainError('invalid_transition', `A rebuild of ${name} is running already`);
}

/** Sessions that hold one of the tables, in words. */
async function readersOf(tables: ReadModelTables, tx: PoolClient): Promise<string> {
  const { rows } = await tx.query<{ who: string }>(
    `select distinct format('%s (process %s)', coalesce(nullif(application_name, ''), usename), pid) as who
     from pg_locks join pg_stat_activity using (pid)
     where granted and relation = any($1::text[]::regclass[]) and pid <> pg_backend_pid()`,
    [namesOf(tables).split(', ')],
  );
  return rows.length === 0 ? 'no session any more' : rows.map(({ who }) => who).join(', ');
}

function namesOf({ schema, names }: ReadModelTables): string {
  return names.map((name) => `${schema}.${name}`).join(', ');
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}
