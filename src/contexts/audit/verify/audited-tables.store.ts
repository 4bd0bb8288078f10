import type { PoolClient } from 'pg';
import type { QueryRunner } from 'typeorm';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { type Context, knownEvents } from '../../../platform/context.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { comparePositions } from '../../../platform/event-store/port.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { Migration } from '../../../platform/postgres/migrate.js';
import { WITHOUT_TIMEOUTS } from '../../../platform/postgres/session-settings.js';
import type { TableComparison } from '../../../platform/projections/compare-tables.js';
import { isReadModel } from '../../../platform/projections/projection.js';
import { ReadModelCheck, type TableCheck } from '../../../platform/projections/table-check.js';
import type { Sealer } from '../../../platform/sealing/sealer.js';
import { PersonalKeysCheck } from './personal-keys-check.store.js';

const BEGIN = `begin isolation level repeatable read, read only; ${WITHOUT_TIMEOUTS}`;

export class TableSnapshot {
  private constructor(
    private readonly tx: PoolClient,
    /** The id by which other sessions read this snapshot while it is open. */
    readonly snapshot: string,
  ) {}

  /** Calls `act` with a snapshot. `locked` names the tables that a rebuild may replace (`schema.name`). */
  static async read<T>(
    database: Database,
    locked: readonly string[],
    act: (tables: TableSnapshot) => Promise<T>,
  ): Promise<T> {
    return database.transaction(
      async (tx) => {
        // The locks precede the snapshot, which finds no rows in tables that a rebuild replaces after it.
        await tx.query(`lock table ${locked.join(', ')} in access share mode`);
        const { rows } = await tx.query<{ snapshot: string }>('select pg_export_snapshot() as snapshot');
        await tx.query('savepoint audited');
        return act(new TableSnapshot(tx, rows[0]!.snapshot));
      },
      { begin: BEGIN },
    );
  }

  async readCheckpoint(name: string): Promise<string | null> {
    const [row] = await this.query<{ position: string | null }>(
      'select position from event_store.checkpoints where name = $1',
      [name],
    );
    return row?.position ?? null;
  }

  async passingTypes(): Promise<ReadonlySet<string>> {
    const rows = await this.query<{ type: string }>('select type from event_store.passing_types', []);
    return new Set(rows.map(({ type }) => type));
  }

  /** Runs a statement. A failed statement does not abort the transaction. */
  readonly query = async <Row extends object>(
    sql: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> => {
    try {
      return (await this.tx.query<Row>(sql, [...values])).rows;
    } catch (error) {
      await this.tx.query('rollback to savepoint audited').catch(() => undefined);
      throw error;
    }
  };
}

export interface LiveTables {
  readonly tables: TableSnapshot;
  /** The checks of the tables. A read model is compared with the events up to its checkpoint. */
  readonly checks: readonly TableCheck[];
  readonly furthest: string | null;
}

export async function liveTables<T>(
  database: Database,
  { contexts, migrations, config }: Pick<CliContext, 'contexts' | 'migrations' | 'config'>,
  sealer: Pick<Sealer, 'openBytes' | 'isAuthentic'> | null,
  act: (live: LiveTables) => Promise<T>,
): Promise<T> {
  const models = contexts.flatMap(({ readModels = [] }) => readModels).filter(isReadModel);
  const names = models.flatMap(({ tables: { schema, names: each } }) =>
    each.map((name) => `${schema}.${name}`),
  );
  // No read model contains personal data (ADR 127), so the codec needs no keys.
  const codec = new EventCodec().register(knownEvents(contexts));
  return TableSnapshot.read(database, names, async (tables) => {
    const checks: ReadModelCheck[] = [];
    let furthest: string | null = null;
    const readPosition = async (name: string): Promise<string | null> => {
      const position = await tables.readCheckpoint(name);
      if (comparePositions(position, furthest) > 0) furthest = position;
      return position;
    };
    try {
      const others: TableCheck[] = [];
      for (const { name, of } of contexts.flatMap((context) => context.checks ?? [])) {
        const position = await readPosition(name);
        others.push(of({ query: tables.query, codec, contexts, config: config(), sealer, position }));
      }
      for (const model of models) {
        const { snapshot } = tables;
        const position = await readPosition(model.name);
        checks.push(await ReadModelCheck.begin(database, codec, model, { snapshot, position }));
      }
      const keys = new PersonalKeysCheck(tables, sealer, contexts, furthest);
      const catalogue = new CatalogueCheck(tables, contexts, migrations);
      return await act({ tables, checks: [...checks, ...others, keys, catalogue], furthest });
    } finally {
      for (const check of checks) await check.drop();
    }
  });
}

/** The schemas of the platform. Each context also has a schema with its name. */
const SCHEMAS = ['event_store', 'platform', 'work'];

/** Checks that all triggers, rules, policies and functions come from migrations. Others could change rows. */
class CatalogueCheck implements TableCheck {
  readonly name = 'catalogue';

  constructor(
    private readonly tables: Pick<TableSnapshot, 'query'>,
    private readonly contexts: readonly Context[],
    private readonly migrations: readonly Migration[],
  ) {}

  async add(): Promise<void> {}

  async compare(): Promise<readonly TableComparison[]> {
    const schemas = [...SCHEMAS, ...this.contexts.map(({ name }) => name)];
    const entries = await this.tables.query<CatalogueEntry>(CATALOGUE, [schemas]);
    const first = strangeEntries(entries, await listStatements(this.migrations));
    return [{ table: 'pg_catalog', rows: entries.length, different: first.length, first }];
  }
}

interface CatalogueEntry {
  readonly kind: string;
  /** The `schema.name` of a table, or the schema of a function. */
  readonly place: string;
  readonly name: string;
  readonly source: string;
  readonly enabled: boolean;
}

const CATALOGUE = `
  with tables as (
    select c.oid, n.nspname || '.' || c.relname as place, c.relrowsecurity or c.relforcerowsecurity as secured
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = any($1)
  )
  select 'trigger' as kind, place, tgname as name, '' as source, tgenabled = 'O' as enabled
  from pg_trigger join tables on tables.oid = tgrelid where not tgisinternal
  union all select 'rule', place, rulename, '', true
  from pg_rewrite join tables on tables.oid = ev_class where rulename <> '_RETURN'
  union all select 'policy', place, polname, '', true from pg_policy join tables on tables.oid = polrelid
  union all select 'row security', place, '', '', true from tables where secured
  union all select 'function', nspname, proname, prosrc, true
  from pg_proc join pg_namespace on pg_namespace.oid = pronamespace where nspname = any($1)
  order by 1, 2, 3`;

async function listStatements(migrations: readonly Migration[]): Promise<string> {
  const statements: string[] = [];
  const query = async (sql: string): Promise<number> => statements.push(sql);
  for (const each of migrations) await new each().up({ query } as QueryRunner);
  return statements.join('\n');
}

function strangeEntries(entries: readonly CatalogueEntry[], statements: string): readonly string[] {
  const created = (kind: string): ReadonlySet<string> =>
    new Set(
      [...statements.matchAll(new RegExp(`create (?:or replace )?${kind} ([\\w.]+)`, 'gi'))].map(([, name]) =>
        name!.split('.').at(-1)!,
      ),
    );
  const known = { trigger: created('trigger'), function: created('function') };
  const strange = entries.flatMap(({ kind, place, name, source, enabled }) => {
    const what = `the database has a ${kind} ${name === '' ? 'on' : `${name} ${kind === 'function' ? 'in' : 'on'}`} ${place}`;
    if (kind === 'trigger' && known.trigger.has(name)) return enabled ? [] : [`${what}, which is disabled`];
    if (kind === 'function' && known.function.has(name))
      return statements.includes(source) ? [] : [`${what} with another body than its migration gave it`];
    return [`${what}, which no migration creates`];
  });
  const missing = (['trigger', 'function'] as const).flatMap((kind) => {
    const there = new Set(entries.filter((entry) => entry.kind === kind).map(({ name }) => name));
    return [...known[kind]]
      .filter((name) => !there.has(name))
      .map((name) => `the ${kind} ${name} is missing`);
  });
  return [...strange, ...missing];
}
