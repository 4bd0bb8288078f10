import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { StoreConfig } from '../config/config.js';
import { endsConnection, reaching } from './unavailable.js';
import { bounded, LIMITS, openPool, QUERY_TIMEOUT_MS, RESPONSE_TIMEOUT_MS } from './session-settings.js';
import { migrate, type Migration } from './migrate.js';

@Injectable()
export class Database implements OnApplicationShutdown {
  private ended: Promise<void> | undefined;

  private constructor(
    readonly pool: Pool,
    readonly timeoutMs: number | null,
  ) {}

  /** Runs `migrations` and connects. Rejects while the database is unavailable. */
  static async connect(options: {
    readonly url: string;
    readonly poolSize: number;
    readonly migrations?: readonly Migration[];
    readonly timeoutMs?: number;
    readonly limited?: boolean;
    /** The timeout of a transaction's statements in milliseconds; none when absent. */
    readonly responseTimeoutMs?: number;
  }): Promise<Database> {
    if (options.migrations?.length) await migrate(options.url, options.migrations);
    const pool = openPool(
      {
        connectionString: options.url,
        max: options.poolSize,
        application_name: 'disburse',
        query_timeout: options.responseTimeoutMs,
      },
      // A plan for an empty table would remain in use for the connection (measured: 2.8 times slower).
      { plan_cache_mode: 'force_custom_plan' },
      options.limited ? LIMITS : {},
    );
    const database = new Database(pool, options.timeoutMs ?? null);
    await reaching('database', 'DATABASE_URL', () => database.ping());
    return database;
  }

  /** Returns the rows of a query. Rejects after the timeout, as if the database were unavailable. */
  async query<Row extends QueryResultRow>(sql: string, params: readonly unknown[] = []): Promise<Row[]> {
    const result = await this.pool.query<Row>(this.withTimeout({ text: sql, values: [...params] }));
    return result.rows;
  }

  /** Adds the timeout of {@link query} to a statement. */
  withTimeout<C extends QueryConfig>(statement: C): C {
    return this.timeoutMs === null ? statement : bounded(statement, this.timeoutMs);
  }

  /**
   * Commits if `work` resolves, rolls back if it rejects. `begin` may contain more statements, whose results
   * `work` gets. `bounded` applies the timeout of `query` to begin, commit and rollback.
   */
  async transaction<T>(
    work: (tx: PoolClient, began: readonly QueryResult[]) => Promise<T>,
    { begin = 'begin', bounded = false }: { readonly begin?: string; readonly bounded?: boolean } = {},
  ): Promise<T> {
    const statement = (text: string): QueryConfig => (bounded ? this.withTimeout({ text }) : { text });
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      const began: QueryResult | QueryResult[] = await client.query(statement(begin));
      const result = await work(client, Array.isArray(began) ? began : [began]);
      await client.query(statement('commit'));
      return result;
    } catch (error) {
      // A rollback would fail too. The server rolls back when the connection ends.
      if (endsConnection(error)) broken = error;
      else await client.query(statement('rollback')).catch((failure: Error) => (broken = failure));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async ping(): Promise<void> {
    await this.pool.query('select 1');
  }

  /** Rejects on a standby, which accepts no writes. */
  async requireWrites(): Promise<void> {
    const [row] = await this.query<{ read_only: string }>(
      `select current_setting('transaction_read_only') as read_only`,
    );
    if (row!.read_only === 'on') throw new Error('the database accepts no writes');
  }

  async close(): Promise<void> {
    await (this.ended ??= this.pool.end());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }
}

export async function databaseFromConfig(
  config: StoreConfig,
  migrations: readonly Migration[] = [],
): Promise<Database> {
  if (config.databaseUrl === null) throw new Error('DATABASE_URL is not set');
  return Database.connect({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    migrations,
    timeoutMs: QUERY_TIMEOUT_MS,
    limited: true,
    // Programs, which have no role, get no timeout, because the statements of a rebuild may take long.
    ...(config.roles.length > 0 ? { responseTimeoutMs: RESPONSE_TIMEOUT_MS } : {}),
  });
}
