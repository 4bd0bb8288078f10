import type { Database } from '../../../src/platform/postgres/database.js';

/** The database of a process that, in its transactions, waits for `until` before statements that begin with `text`. */
export function stalledAt(text: string, database: Database, until: () => Promise<void>): Database {
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction((tx, began) => {
      const query = async (sql: string, params?: unknown[]): Promise<unknown> => {
        if (sql.startsWith(text)) await until();
        return tx.query(sql, params);
      };
      return work(Object.assign(Object.create(tx) as typeof tx, { query }), began);
    }, options);
  return Object.assign(Object.create(database) as Database, { transaction });
}
