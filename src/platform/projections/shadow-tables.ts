import type { PoolClient } from 'pg';
import type { EventCodec } from '../event-store/event-codec.js';
import type { RecordedEvent } from '../event-store/port.js';
import { compareTables, type TableComparison } from './compare-tables.js';
import type { ReadModel } from './projection.js';

/** The number of events per batch. Larger batches reach the old generation of the garbage collector. */
const BATCH = 3000;
/** The maximum wait for the table lock, because later readers queue behind it. */
const SWAP_LOCK_MS = 100;

interface IndexRow {
  readonly name: string;
  readonly definition: string;
  readonly constrains: 'p' | 'u' | null;
}

/** The tables of a read model, rebuilt in another schema, to compare or replace the live ones. */
export class ShadowTables {
  events = 0;
  position: string | null = null;
  private readonly names: ReadonlySet<string>;
  private pending: RecordedEvent[] = [];
  private applied: Promise<void> = Promise.resolve();

  private constructor(
    private readonly tx: PoolClient,
    private readonly codec: Pick<EventCodec, 'currentName' | 'decode'>,
    private readonly definition: ReadModel,
    private readonly schema: string,
  ) {
    this.names = new Set(definition.events);
  }

  /** Creates the tables. `unlogged` is for tables that are only compared with the live ones. */
  static async create(
    tx: PoolClient,
    codec: Pick<EventCodec, 'currentName' | 'decode'>,
    definition: ReadModel,
    { prefix = 'rebuilt', kind = '' }: { readonly prefix?: string; readonly kind?: '' | 'unlogged' } = {},
  ): Promise<ShadowTables> {
    const { tables } = definition;
    const schema = `${prefix}_${tables.schema}_${tables.names[0]!}`;
    await tx.query(`create schema ${schema}`);
    for (const name of tables.names) {
      const live = `${tables.schema}.${name}`;
      await tx.query(`create ${kind} table ${schema}.${name} (like ${live} including all excluding indexes)`);
    }
    const shadow = new ShadowTables(tx, codec, definition, schema);
    await shadow.index({ unique: true });
    return shadow;
  }

  async add(page: readonly RecordedEvent[]): Promise<void> {
    const relevant = page.filter(({ type }) => this.names.has(this.codec.currentName(type)));
    this.events += relevant.length;
    this.pending.push(...relevant);
    this.position = page.at(-1)?.position ?? this.position;
    if (this.pending.length >= BATCH) await this.applyNext();
  }

  async settle(): Promise<void> {
    await this.applyNext();
    await this.applied;
  }

  /** Resolves after the present batch, even if the batch fails, so that the transaction may end. */
  async stop(): Promise<void> {
    await this.applied.catch(() => undefined);
  }

  /** Starts to apply a batch, so that the caller can read the next one meanwhile. */
  private async applyNext(): Promise<void> {
    await this.applied;
    const events = this.pending.splice(0);
    if (events.length === 0) return;
    const { definition, tx, schema } = this;
    const apply = async () =>
      definition.apply(await this.codec.decode(events, definition.staysSealed), tx, schema);
    this.applied = apply();
    // The next call throws the failure. Until then, it must not count as unhandled.
    this.applied.catch(() => undefined);
  }

  /** Creates the unique indexes of the live tables, or all others, as the catalogue describes them. */
  private async index({ unique }: { readonly unique: boolean }): Promise<void> {
    const { tx, schema } = this;
    const { tables } = this.definition;
    for (const table of tables.names) {
      const { rows } = await tx.query<IndexRow>(
        `select i.relname as name, pg_get_indexdef(i.oid) as definition, c.contype as constrains
         from pg_index x join pg_class i on i.oid = x.indexrelid
         left join pg_constraint c on c.conindid = i.oid and c.contype in ('p', 'u')
         where x.indrelid = $1::regclass and x.indisunique = $2`,
        [`${tables.schema}.${table}`, unique],
      );
      for (const { name, definition, constrains } of rows) {
        await tx.query(definition.replace(` ON ${tables.schema}.${table} `, ` ON ${schema}.${table} `));
        if (constrains === null) continue;
        const kind = constrains === 'p' ? 'primary key' : 'unique';
        await tx.query(`alter table ${schema}.${table} add constraint ${name} ${kind} using index ${name}`);
      }
    }
  }

  /** Applies the pending events, then creates the non-unique indexes, which is cheaper at the end. */
  async complete(): Promise<void> {
    await this.settle();
    await this.index({ unique: false });
    for (const name of this.definition.tables.names) await this.tx.query(`analyze ${this.schema}.${name}`);
  }

  async compare(): Promise<readonly TableComparison[]> {
    await this.complete();
    const { schema, names, json = [] } = this.definition.tables;
    const compared: TableComparison[] = [];
    for (const name of names)
      compared.push(await compareTables(this.tx, `${schema}.${name}`, `${this.schema}.${name}`, json));
    return compared;
  }

  /** Replaces the live tables and keeps options and grants. Throws `lock_not_available` while others read. */
  async replaceLive(): Promise<void> {
    const { tx, schema } = this;
    const { tables } = this.definition;
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
      [this.schema, `${this.definition.tables.schema}.${table}`],
    );
    for (const { statement } of rows) await this.tx.query(statement);
  }
}
