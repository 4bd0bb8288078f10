import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DomainError } from '../../kernel/domain-error.js';
import { Database } from '../postgres/database.js';
import { backOff, pause } from '../background/backoff.js';
import { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../event-store/port.js';
import type { ReadModelTables, SubscriptionDefinition } from './projection.js';
import { Checkpoints } from './checkpoints.js';
import { History } from './history.js';
import { PassingTypes } from './passing-types.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import { TwinComparison, type ComparedTable } from './twin-comparison.js';
import { TwinTables } from './twin-tables.js';

/** Between tries to take the place of tables that are being read. */
const RETRY = { firstMs: 50, mostMs: 5000 };
/** How often the tables are asked for before the rebuild gives up: about an hour. */
const ATTEMPTS = 800;
/** After so many tries, and then every so many, it says who is in the way. */
const WORD_EVERY = 12;
/** Before it takes the checkpoint, the rebuild has caught up with the runner to within what that did in one such turn. */
const CATCH_UPS = 3;
/** How long the runner may take to come to the end of the log, before the originals count as behind. */
const CATCH_UP_MS = 1000;
const CATCH_UP_POLL_MS = 20;
/** The fold has no lock that anybody waits for; a rebuild that stands still while it swaps must not keep its locks. */
const BEGIN = `begin; set local statement_timeout = 0; set local transaction_timeout = 0; set local idle_in_transaction_session_timeout = '10min';
  set local maintenance_work_mem = '256MB'; set local max_parallel_workers_per_gather = 0`;
const SWAP = `savepoint swap; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'`;

export interface Rebuilt {
  readonly name: string;
  /** Events applied. */
  readonly events: number;
  readonly position: string | null;
  /** What stood in the tables before; null: nothing was compared, for instance because they were behind their events. */
  readonly compared: readonly ComparedTable[] | null;
}

export interface RebuildOptions {
  /** Whether what stands there is compared with what the events say; true when absent. */
  readonly compare?: boolean;
  /** Leaves everything as it is. */
  readonly compareOnly?: boolean;
  /** Hears what it waits for. */
  readonly print?: (line: string) => void;
}

/**
 * Builds read models anew from the first event, while the service runs: into twins of their tables, which take the
 * place of the originals at the end (ADR 99). Until then readers see the originals, and the runner keeps them up to date.
 */
@Injectable()
export class ReadModelRebuild {
  constructor(
    private readonly registry: SubscriptionRegistry,
    private readonly checkpoints: Checkpoints,
    private readonly codec: EventCodec,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly database: Database,
  ) {}

  /** Names of what can be rebuilt. Sagas cannot: they would do their work again. */
  names(): readonly string[] {
    return this.registry
      .all()
      .filter(({ tables }) => tables !== undefined)
      .map(({ name }) => name);
  }

  /**
   * Throws when `name` is unknown, a saga, or being rebuilt already, and when its tables are read without a pause for
   * an hour.
   */
  async rebuild(
    name: string,
    { compare = true, compareOnly = false, print = () => undefined }: RebuildOptions = {},
  ): Promise<Rebuilt> {
    const definition = this.registry.get(name);
    const { tables } = definition;
    if (tables === undefined) throw new Error(`${name} is no read model: it does not replay`);
    await this.checkpoints.ensure([name]);
    const passing = new Set((await new PassingTypes(this.database).all()).map(({ type }) => type));
    const history = new History(this.store, this.codec, definition, passing);
    let compared: Rebuilt['compared'] = null;
    const work = async (tx: PoolClient): Promise<void> => {
      const lock = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as mine';
      const { rows } = await tx.query<{ mine: boolean }>(lock, [`rebuild ${name}`]);
      if (!rows[0]!.mine)
        throw new DomainError('invalid_transition', `A rebuild of ${name} is under way already`);
      await tx.query('savepoint untouched');
      const twins = await TwinTables.create(tx, tables);
      // Twins that are ahead of the originals cannot be compared with them.
      const end = compareOnly
        ? await this.checkpointOf(name)
        : compare
          ? await this.currentCheckpoint(name)
          : undefined;
      await twins.fill(definition, history.upTo(end));
      const comparison = end === undefined ? null : new TwinComparison(tx, tables, twins.schema);
      compared = await this.takeOver(
        { definition, tables, history, twins, comparison },
        tx,
        print,
        compareOnly,
      );
      if (compareOnly) await tx.query('rollback to savepoint untouched');
    };
    await this.database.transaction(work, { begin: BEGIN });
    return { name, events: history.events, position: history.position, compared };
  }

  private async checkpointOf(name: string): Promise<string | null> {
    return (await this.checkpoints.read([name])).get(name) ?? null;
  }

  /** The checkpoint once it is where the log ends now; undefined when the runner does not come there soon. */
  private async currentCheckpoint(name: string): Promise<string | null | undefined> {
    const head = await this.store.head();
    const until = performance.now() + CATCH_UP_MS;
    for (;;) {
      const position = await this.checkpointOf(name);
      if (comparePositions(position, head) >= 0) return position;
      if (performance.now() > until) return undefined;
      await pause(CATCH_UP_POLL_MS);
    }
  }

  /** What {@link TwinComparison.settle} says. Puts the twins in the place of the originals unless `compareOnly`. */
  private async takeOver(
    { definition, tables, history, twins, comparison }: Made,
    tx: PoolClient,
    print: (line: string) => void,
    compareOnly: boolean,
  ): Promise<Rebuilt['compared']> {
    const { name } = definition;
    const catchUpWith = async (position: string | null): Promise<void> => {
      for await (const events of history.upTo(position)) await definition.apply(events, tx, twins.schema);
    };
    const catchUp = async (): Promise<void> => {
      for (let turn = 0; turn < CATCH_UPS; turn += 1) await catchUpWith(await this.checkpointOf(name));
    };
    // The less the originals are ahead, the fewer of their rows are taken for different at first.
    await catchUp();
    await comparison?.look();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      await catchUp();
      const { position, events } = history;
      try {
        await tx.query(SWAP);
        const runner = await this.checkpoints.hold(name, tx);
        await catchUpWith(runner);
        const compared = (await comparison?.settle()) ?? null;
        if (compareOnly) return compared;
        await twins.replaceOriginals();
        if (comparePositions(history.position, runner) > 0) {
          await this.checkpoints.set(name, history.position, tx);
        }
        return compared;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        await tx.query('rollback to savepoint swap; release savepoint swap');
        Object.assign(history, { position, events });
      }
      if (attempt % WORD_EVERY === 0)
        print(`${name} is complete and waits for ${await readersOf(tables, tx)}`);
      await backOff(RETRY, attempt - 1);
    }
    throw new DomainError(
      'unavailable',
      `${name} stays as it was: its tables are in use without a pause, by ${await readersOf(tables, tx)}`,
    );
  }
}

interface Made {
  readonly definition: SubscriptionDefinition;
  readonly tables: ReadModelTables;
  readonly history: History;
  readonly twins: TwinTables;
  readonly comparison: TwinComparison | null;
}

/** Sessions that hold one of the tables, in words. */
async function readersOf({ schema, names }: ReadModelTables, tx: PoolClient): Promise<string> {
  const { rows } = await tx.query<{ who: string }>(
    `select distinct format('%s (process %s)', coalesce(nullif(application_name, ''), usename), pid) as who
     from pg_locks join pg_stat_activity using (pid)
     where granted and relation = any($1::text[]::regclass[]) and pid <> pg_backend_pid()`,
    [names.map((name) => `${schema}.${name}`)],
  );
  return rows.length === 0 ? 'nobody any more' : rows.map(({ who }) => who).join(', ');
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}
