import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../event-store/port.js';
import type { DerivedTables, ReadModelTables } from './projection.js';

/** How long readers may have to wait behind a rebuild that wants their tables for itself. */
const SWAP_LOCK_MS = 100;

interface IndexRow {
  readonly name: string;
  readonly definition: string;
  readonly constrains: 'p' | 'u' | null;
}

/**
 * Twins of the tables of a read model, under the same names in a schema of their own, all within one transaction:
 * nobody sees them, and nothing is left of them when it ends early, until they take the place of the originals.
 */
export class TwinTables {
  private constructor(
    private readonly tx: PoolClient,
    private readonly tables: ReadModelTables,
    readonly schema: string,
  ) {}

  /** Empty twins without indexes. Those that never take a place need no write-ahead log: `unlogged`. */
  static async create(
    tx: PoolClient,
    tables: ReadModelTables,
    { prefix = 'rebuilt', kind = '' }: { readonly prefix?: string; readonly kind?: '' | 'unlogged' } = {},
  ): Promise<TwinTables> {
    const schema = `${prefix}_${tables.schema}_${tables.names[0]!}`;
    await tx.query(`create schema ${schema}`);
    for (const name of tables.names) {
      const original = `${tables.schema}.${name}`;
      await tx.query(
        `create ${kind} table ${schema}.${name} (like ${original} including all excluding indexes)`,
      );
    }
    return new TwinTables(tx, tables, schema);
  }

  /** Fills the twins with what the projection makes of the events. */
  async fill(
    { fill, apply }: Pick<DerivedTables, 'fill' | 'apply'>,
    events: AsyncIterable<readonly RecordedEvent[]>,
  ): Promise<void> {
    if (fill) {
      await fill(events, this.tx, this.schema);
      return this.index();
    }
    await this.index();
    for await (const page of events) await apply(page, this.tx, this.schema);
  }

  /** Gives the twins the indexes of the originals, as the catalogue knows them, under the same names. */
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

  /**
   * Puts the twins in the place of the originals, whose options and grants they take over. Fails with
   * `lock_not_available`, for the caller to roll back, when somebody is reading those: whoever comes to read waits
   * behind a lock that is wanted, so it is not wanted for long.
   */
  async replaceOriginals(): Promise<void> {
    const { tx, schema, tables } = this;
    const originals = tables.names.map((name) => `${tables.schema}.${name}`).join(', ');
    await tx.query(`set local lock_timeout = ${SWAP_LOCK_MS}`);
    await tx.query(`lock table ${originals} in access exclusive mode`);
    for (const name of tables.names) await this.takeOver(name);
    await tx.query(`drop table ${originals}`);
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
