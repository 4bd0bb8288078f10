import type pg from 'pg';

/** Tables as they are now, to be put in place of what they will be. */
export class TableCopies {
  constructor(private readonly pool: pg.Pool) {}

  async copy(tables: readonly string[]): Promise<void> {
    for (const table of tables) await this.pool.query(`create table ${copyOf(table)} as table ${table}`);
  }

  async restore(tables: readonly string[]): Promise<void> {
    await this.pool.query(`truncate ${tables.join(', ')} cascade`);
    for (const table of tables) await this.pool.query(`insert into ${table} table ${copyOf(table)}`);
  }
}

function copyOf(table: string): string {
  return `public.${table.replace('.', '_')}`;
}
