import type { PoolClient } from 'pg';
import type { Database } from '../../../platform/postgres/database.js';
import { WITHOUT_TIMEOUTS } from '../../../platform/postgres/session-settings.js';

const BEGIN = `begin isolation level repeatable read, read only; ${WITHOUT_TIMEOUTS}`;

/** What tables hold, in one snapshot of the database. */
export class AuditedTables {
  private constructor(
    private readonly tx: PoolClient,
    /** By which other sessions read the same, as long as this one is open. */
    readonly snapshot: string,
  ) {}

  /** `locked`: tables that a rebuild may replace, `schema.name` each. */
  static async read<T>(
    database: Database,
    locked: readonly string[],
    act: (tables: AuditedTables) => Promise<T>,
  ): Promise<T> {
    return database.transaction(
      async (tx) => {
        // Before the snapshot: in tables that a rebuild put in place after it, it would find no rows.
        await tx.query(`lock table ${locked.join(', ')} in access share mode`);
        const { rows } = await tx.query<{ snapshot: string }>('select pg_export_snapshot() as snapshot');
        await tx.query('savepoint audited');
        return act(new AuditedTables(tx, rows[0]!.snapshot));
      },
      { begin: BEGIN },
    );
  }

  async checkpointOf(name: string): Promise<string | null> {
    const [row] = await this.query<{ position: string | null }>(
      'select position from event_store.checkpoints where name = $1',
      [name],
    );
    return row?.position ?? null;
  }

  /** Types that an operator let pass. */
  async passingTypes(): Promise<ReadonlySet<string>> {
    const rows = await this.query<{ type: string }>('select type from event_store.passing_types', []);
    return new Set(rows.map(({ type }) => type));
  }

  /** A statement that fails ends the check that needs it, and none of the others. */
  readonly query = async <Row extends object>(
    sql: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> => {
    try {
      return (await this.tx.query<Row>(sql, [...values])).rows;
    } catch (error) {
      // The cause is the error to report, also where the connection is gone.
      await this.tx.query('rollback to savepoint audited').catch(() => undefined);
      throw error;
    }
  };
}
