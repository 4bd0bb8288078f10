import { Inject, Injectable, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { DataSource, DefaultNamingStrategy, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { Pool } from 'pg';
import { storeConfig, type StoreConfig } from '../config/config.js';
import { CONTEXTS, type Context } from '../context.js';
import type { PagePlace } from '../postgres/list-page.js';
import { encodeCursor } from '../postgres/page-cursor.js';
import { CONNECTING, LIMITS, QUERY_TIMEOUT_MS, sessionOptions } from '../postgres/session-settings.js';
import { outliveConnections } from '../postgres/unavailable.js';

/** People read lists, one page at a time. */
const POOL_SIZE = 4;

/** A property of an entity is called as its column, in camel case. */
class ColumnNames extends DefaultNamingStrategy {
  override columnName(property: string, column: string | undefined): string {
    return column ?? property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}

/**
 * Rows that people browse, as TypeORM entities mapped on tables of the contexts (`entities` of their declarations). The
 * sessions are read-only; it connects with the first query.
 */
@Injectable()
export class ReadModels implements OnApplicationShutdown {
  private source: Promise<DataSource> | null = null;

  constructor(
    @Inject(storeConfig.KEY) private readonly config: StoreConfig,
    @Inject(CONTEXTS) private readonly contexts: readonly Context[],
  ) {}

  async query<Entity extends ObjectLiteral>(
    entity: Type<Entity>,
    alias: string,
  ): Promise<SelectQueryBuilder<Entity>> {
    this.source ??= this.connect();
    const source = await this.source.catch((error: unknown) => {
      this.source = null;
      throw error;
    });
    return source.getRepository(entity).createQueryBuilder(alias);
  }

  async onApplicationShutdown(): Promise<void> {
    await (await this.source?.catch(() => null))?.destroy();
  }

  private async connect(): Promise<DataSource> {
    const source = new DataSource({
      type: 'postgres',
      url: this.config.databaseUrl ?? '',
      applicationName: 'disburse lists',
      poolSize: POOL_SIZE,
      namingStrategy: new ColumnNames(),
      entities: this.contexts.flatMap(({ entities = [] }) => [...entities]),
      extra: {
        ...CONNECTING,
        query_timeout: QUERY_TIMEOUT_MS,
        options: sessionOptions(LIMITS, {
          default_transaction_read_only: 'on',
          statement_timeout: QUERY_TIMEOUT_MS,
        }),
      },
      // In place of TypeORM's own, which write to the console.
      logger: 'debug',
      poolErrorHandler: () => undefined,
    });
    await source.initialize();
    outliveConnections((source.driver as PostgresDriver).master as Pool);
    return source;
  }
}

/** A page of a list, newest first. */
export interface KeysetPage {
  readonly pageSize: number;
  /** The last place of the page before. */
  readonly after?: PagePlace | undefined;
}

/**
 * The rows of the page, in the order of `time` and `id`, properties of the entity whose alias the query has; times are exact
 * to the millisecond.
 */
export async function keysetPage<Entity extends ObjectLiteral>(
  query: SelectQueryBuilder<Entity>,
  { pageSize, after }: KeysetPage,
  { time, id }: { readonly time: keyof Entity & string; readonly id: keyof Entity & string },
): Promise<{ readonly rows: Entity[]; readonly next_cursor: string | null }> {
  const { alias } = query;
  if (after !== undefined)
    query.andWhere(`(${alias}.${time}, ${alias}.${id}) < (:placeTime::timestamptz, :placeId::uuid)`, {
      placeTime: after.createdAt,
      placeId: after.id,
    });
  const rows = await query
    .orderBy(`${alias}.${time}`, 'DESC')
    .addOrderBy(`${alias}.${id}`, 'DESC')
    .limit(pageSize + 1)
    .getMany();
  const page = rows.slice(0, pageSize);
  const last = rows.length > pageSize ? page.at(-1) : undefined;
  return { rows: page, next_cursor: last ? encodeCursor({ createdAt: last[time], id: last[id] }) : null };
}

/**
 * As {@link keysetPage}, of the rows of several queries: one for each merchant, where a caller is confined to some. Each
 * reads through the index of its merchant, however many others there are.
 */
export async function mergedKeysetPage<Entity extends ObjectLiteral>(
  queries: readonly SelectQueryBuilder<Entity>[],
  page: KeysetPage,
  place: { readonly time: keyof Entity & string; readonly id: keyof Entity & string },
): Promise<{ readonly rows: Entity[]; readonly next_cursor: string | null }> {
  const pages = await Promise.all(queries.map((query) => keysetPage(query, page, place)));
  if (pages.length === 1) return pages[0]!;
  const keyOf = (row: Entity): string =>
    `${String((row[place.time] as Date).getTime()).padStart(15, '0')} ${row[place.id]}`;
  const merged = pages.flatMap(({ rows }) => rows).sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
  const rows = merged.slice(0, page.pageSize);
  const last = rows.at(-1);
  const hasMore = merged.length > rows.length || pages.some(({ next_cursor }) => next_cursor !== null);
  return {
    rows,
    next_cursor: hasMore && last ? encodeCursor({ createdAt: last[place.time], id: last[place.id] }) : null,
  };
}
