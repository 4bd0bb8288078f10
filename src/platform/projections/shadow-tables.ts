import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../event-store/port.js';
import { compareTables, type TableComparison } from './compare-tables.js';
import type { ReadModelTables, SubscriptionDefinition } from './projection.js';

/** How long readers may have to wait behind a rebuild that locks their tables. */
const SWAP_LOCK_MS = 100;

interface IndexRow {
  readonly name: string;
  readonly definition: string;
  readonly constrains: 'p' | 'u' | null;
}

/**
 * The tables of a read model rebuilt from events, under the same names in a separate schema, all within one
 * transaction: no other session sees them, and a rollback removes them. They are compared with the live tables or
 * replace them.
 */
export class ShadowTables {
  private constructor(
    private readonly tx: PoolClient,
    private readonly tables: ReadModelTables,
    readonly schema: string,
  ) {}

  /** Empty, without indexes. Those that never replace the live tables need no write-ahead log: `unlogged`. */
  static async create(
    tx: PoolClient,
    tables: ReadModelTables,
    { prefix = 'rebuilt', kind = '' }: { readonly prefix?: string; readonly kind?: '' | 'unlogged' } = {},
  ): Promise<ShadowTables> {
    const schema = `${prefix}_${tables.schema}_${tables.names[0]!}`;
    await tx.query(`create schema ${schema}`);
    for (const name of tables.names) {
      const live = `${tables.schema}.${name}`;
      await tx.query(`create ${kind} table ${schema}.${name} (like ${live} including all excluding indexes)`);
    }
    return new ShadowTables(tx, tables, schema);
  }

  async fill(
    { fill, apply }: Pick<SubscriptionDefinition, 'fill' | 'apply'>,
    events: AsyncIterable<readonly RecordedEvent[]>,
  ): Promise<void> {
    if (fill) {
      await fill(events, this.tx, this.schema);
      return this.index();
    }
    await this.index();
    for await (const page of events) await apply(page, this.tx, this.schema);
  }

  /** Creates the indexes of the live tables, as the catalogue knows them, under the same names. */
  async index(): Promise<void> {
    const { tx, schema, tables } = this;
    for (const table of tables.names) {
      const { rows } = await tx.query<IndexRow>(
        `select i.relname as name, pg_get_indexdef(i.oid) as definition, c.contype as constrains
         from pg_index x join pg_class i on i.oid = x.indexrelid
         left join pg_constraint c on c.conindid = i.oid and c.contype in ('p', 'u')
         where x.indrelid = $1::regclass`,
        [`${tables.schema}.${table}`],
      );
      for (const { name, definition, constrains } of rows) {
        await tx.query(definition.replace(` ON ${tables.schema}.${table} `, ` ON ${schema}.${table} `));
        if (constrains === null) continue;
        const kind = constrains === 'p' ? 'primary key' : 'unique';
        await tx.query(`alter table ${schema}.${table} add constraint ${name} ${kind} using index ${name}`);
      }
      await tx.query(`analyze ${schema}.${table}`);
    }
  }

  /** By `schema.name` of the live table. */
  async compare(): Promise<ReadonlyMap<string, TableComparison>> {
    const { schema, names, json = [] } = this.tables;
    const compared = new Map<string, TableComparison>();
    for (const name of names) {
      const pair = { live: `${schema}.${name}`, rebuilt: `${this.schema}.${name}`, json };
      compared.set(pair.live, await compareTables(this.tx, pair));
    }
    return compared;
  }

  /**
   * Replaces the live tables and takes over their options and grants. Fails with `lock_not_available`, for the caller to
   * roll back, while another session reads them: later readers queue behind a pending lock, so it is not pending for long.
   */
  async replaceLive(): Promise<void> {
    const { tx, schema, tables } = this;
    const live = tables.names.map((name) => `${tables.schema}.${name}`).join(', ');
    await tx.query(`set local lock_timeout = ${SWAP_LOCK_MS}`);
    await tx.query(`lock table ${live} in access exclusive mode`);
    for (const name of tables.names) await this.takeOver(name);
    await tx.query(`drop table ${live}`);
    for (const name of tables.names) {
      await tx.query(`alter table ${schema}.${name} set schema ${tables.schema}`);
    }
    await tx.query(`drop schema ${schema}`);
  }

  private async takeOver(table: string): Promise<void> {
    const { rows } = await this.tx.query<{ statement: string }>(
      `select format('alter table %I.%I set (%s)', $1::text, relname, array_to_string(reloptions, ', ')) as statement
       from pg_class where oid = $2::regclass and reloptions is not null
       union all
       select format('grant %s on %I.%I to %s%s', privilege_type, $1::text, relname,
         case grantee when 0 then 'public' else grantee::regrole::text end,
         case when is_grantable then ' with grant option' else '' end)
       from pg_class, aclexplode(relacl) where oid = $2::regclass and grantee <> relowner`,
      [this.schema, `${this.tables.schema}.${table}`],
    );
    for (const { statement } of rows) await this.tx.query(statement);
  }
}
