import type { PoolClient } from 'pg';

const PREFIX = 'rebuilt_';

/** Creates an empty twin of `payouts.<table>` without its indexes and gives back the twin's full name. */
export async function createTwin(table: string, tx: PoolClient): Promise<string> {
  const twin = `payouts.${PREFIX}${table}`;
  await tx.query(
    `create table ${twin} (like payouts.${table} including defaults including constraints including storage including comments)`,
  );
  return twin;
}

/**
 * Gives the twin the indexes of the original, as the catalogue knows them, and puts it in the original's place.
 * Only this last step shuts readers out.
 */
export async function replaceByTwin(table: string, tx: PoolClient): Promise<void> {
  const { rows } = await tx.query<{
    name: string;
    definition: string;
    primary: boolean;
    options: string[] | null;
  }>(
    `select i.relname as name, pg_get_indexdef(i.oid) as definition, x.indisprimary as primary, t.reloptions as options
     from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
     where x.indrelid = $1::regclass`,
    [`payouts.${table}`],
  );
  for (const { name, definition } of rows) {
    await tx.query(
      definition
        .replace(` INDEX ${name} ON `, ` INDEX ${PREFIX}${name} ON `)
        .replace(` ON payouts.${table} `, ` ON payouts.${PREFIX}${table} `),
    );
  }
  const options = rows[0]?.options ?? null;
  if (options !== null) await tx.query(`alter table payouts.${PREFIX}${table} set (${options.join(', ')})`);
  await tx.query(`analyze payouts.${PREFIX}${table}`);
  await tx.query(`drop table payouts.${table}`);
  await tx.query(`alter table payouts.${PREFIX}${table} rename to ${table}`);
  for (const { name, primary } of rows) {
    await tx.query(
      primary
        ? `alter table payouts.${table} add constraint ${name} primary key using index ${PREFIX}${name}`
        : `alter index payouts.${PREFIX}${name} rename to ${name}`,
    );
  }
}
