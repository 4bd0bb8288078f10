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
import { PassingTypes } from './passing-types.js';
import { isReadModel, type ReadModel } from './projection.js';
import { WITHOUT_TIMEOUTS } from '../postgres/session-settings.js';
import { isLockTimeout } from '../postgres/unavailable.js';
import { ShadowTables } from './shadow-tables.js';
import { SubscriptionRegistry } from './subscription-registry.js';

/** The delays between attempts to lock tables in use. */
const RETRY = { firstMs: 50, maxMs: 5000 };
/** The number of attempts in about an hour. */
const ATTEMPTS = 800;
/** The number of failed attempts after which a line about the wait is printed. */
const PRINT_EVERY = 12;
/** The number of passes over later events before the checkpoint is locked. */
const CATCH_UPS = 3;
/** Begins a rebuild, which blocks other sessions only in the swap, and loses its locks if it stalls there. */
const BEGIN = `begin; ${WITHOUT_TIMEOUTS}; set local idle_in_transaction_session_timeout = '10min';
  set local maintenance_work_mem = '256MB'; set local max_parallel_workers_per_gather = 0`;
const SWAP = `savepoint swap; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'`;

export interface Rebuilt {
  readonly name: string;
  readonly events: number;
  readonly position: string | null;
}

/** Rebuilds read models in shadow tables, which then replace the live ones (ADR 99). */
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

  /** Rebuilds a read model. Throws for an unknown name, a saga, another rebuild, or tables locked for 1 h. */
  async rebuild(name: string, print: (line: string) => void = () => undefined): Promise<Rebuilt> {
    const definition = this.registry.get(name);
    if (!isReadModel(definition)) throw new Error(`${name} is not a read model and cannot be rebuilt`);
    await this.checkpoints.ensure([name]);
    const passing = await this.passing.all();
    const work = (tx: PoolClient) => this.replace(definition, passing, tx, print);
    const { events, position } = await this.database.transaction(work, { begin: BEGIN });
    return { name, events, position };
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

  private async replace(
    definition: ReadModel,
    passing: ReadonlySet<string>,
    tx: PoolClient,
    print: (line: string) => void,
  ): Promise<Pick<Rebuilt, 'events' | 'position'>> {
    const { name } = definition;
    await lockRebuild(tx, name);
    const shadow = await ShadowTables.create(tx, this.codec, definition);
    const catchUp = async (end?: string | null): Promise<void> => {
      try {
        const extent = { after: shadow.position, end };
        for await (const page of this.knownPages(definition, passing, extent)) await shadow.add(page);
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
