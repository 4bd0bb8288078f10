import type { PoolClient } from 'pg';
import { ORDER_STATUSES, type OrderStatus } from '../../exchange/contract.js';
import type { Database } from '../../../platform/postgres/database.js';
import { CATALOGUE, type CatalogueEntry } from './catalogue.js';

const ROWS_PER_PAGE = 1000;
/** Pages begin after it. No id of the service, but whoever plants a row may take it. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const BEGIN = `begin isolation level repeatable read, read only;
  set local statement_timeout = 0; set local transaction_timeout = 0; set local idle_in_transaction_session_timeout = 0`;

export interface PayoutRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly user_id: string;
  readonly status: number;
  readonly created_at: Date;
  readonly amount_minor: string;
  readonly body: string;
}

export interface BalanceRow {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly confirmed: string;
  readonly pending: string;
}

export interface OrderRow {
  readonly id: string;
  readonly key_scope: string;
  readonly user_scope: string | null;
  readonly address_scope: string;
  readonly user_address_scope: string | null;
  readonly status: number;
  readonly created_at: Date;
  readonly revision: string;
  readonly body: string;
}

/** `place`: the scope, how many hours are counted, and their first second since 1970. */
export type OrderCountRow = Readonly<Record<OrderStatus, number>> & { readonly place: string };

/** What the read models and the list of verifications hold, in one snapshot of the database. */
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
        return act(new AuditedTables(tx, rows[0]!.snapshot));
      },
      { begin: BEGIN },
    );
  }

  async checkpointOf(name: string): Promise<string | null> {
    const { rows } = await this.tx.query<{ position: string | null }>(
      'select position from event_store.checkpoints where name = $1',
      [name],
    );
    return rows[0]?.position ?? null;
  }

  /** Types that an operator let pass. */
  async passingTypes(): Promise<ReadonlySet<string>> {
    const { rows } = await this.tx.query<{ type: string }>('select type from event_store.passing_types');
    return new Set(rows.map(({ type }) => type));
  }

  payouts(look: (row: PayoutRow) => void): Promise<void> {
    return this.pages(
      `select id, merchant_id, user_id, status, created_at, amount_minor, body from payouts.payouts where id > $1 order by id limit $2`,
      ({ id }) => id,
      look,
    );
  }

  balances(look: (row: BalanceRow) => void): Promise<void> {
    return this.pages(
      `select user_id, merchant_id, confirmed, pending from payouts.balances where user_id > $1 order by user_id limit $2`,
      ({ user_id: id }) => id,
      look,
    );
  }

  /** Ids of the payouts that are looked up on the chain. */
  async verifications(): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    await this.pages<{ payout_id: string }>(
      'select payout_id from payouts.verifications where payout_id > $1 order by payout_id limit $2',
      ({ payout_id: id }) => id,
      ({ payout_id: id }) => ids.add(id),
    );
    return ids;
  }

  orders(look: (row: OrderRow) => void): Promise<void> {
    return this.pages(
      `select id, key_scope, user_scope, address_scope, user_address_scope, status, created_at, revision, body
       from exchange.orders where id > $1 order by id limit $2`,
      ({ id }) => id,
      look,
    );
  }

  /** Ids of the exchange orders that are looked at. */
  async watchedOrders(): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    await this.pages<{ key: string }>(
      `select key from work.items where kind = 'exchange.watch' and key > $1 order by key limit $2`,
      ({ key }) => key,
      ({ key }) => ids.add(key),
    );
    return ids;
  }

  /** For tables that other contexts compare. */
  async query<Row extends object>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.tx.query<Row>(sql, [...values])).rows;
  }

  /** Keys of persons; null for those who are forgotten. */
  async personalKeys(
    read: (row: { readonly subject: string; readonly wrapped_key: string | null }) => void,
  ): Promise<void> {
    await this.pages<{ subject: string; wrapped_key: string | null }>(
      `select subject, wrapped_key from platform.personal_keys where subject > $1 order by subject limit $2`,
      ({ subject }) => subject,
      read,
      '',
    );
  }

  /** What of the database changes what statements in these schemas read or write. */
  async catalogue(schemas: readonly string[]): Promise<readonly CatalogueEntry[]> {
    return (await this.tx.query<CatalogueEntry>(CATALOGUE, [schemas])).rows;
  }

  /** SHA-256, in hex, of receipts whose bytes have another one; how many there are in all. */
  async alteredReceipts(): Promise<{ readonly kept: number; readonly altered: readonly string[] }> {
    const { rows } = await this.tx.query<{ kept: number; altered: string[] | null }>(
      `select count(*)::float8 as kept, array_agg(encode(sha256, 'hex'))
         filter (where sha256 <> sha256(convert_to(receipt, 'UTF8'))) as altered from payouts.receipts`,
    );
    return { kept: rows[0]!.kept, altered: rows[0]!.altered ?? [] };
  }

  orderCounts(look: (row: OrderCountRow) => void): Promise<void> {
    return this.pages(
      `select scope || ' ' || hours || ' ' || extract(epoch from starts_at)::bigint as place, ${ORDER_STATUSES.join(', ')}
       from exchange.order_counts
       where (scope, hours, starts_at) > (split_part($1, ' ', 1)::uuid, split_part($1 || ' 0', ' ', 2)::smallint,
         to_timestamp(split_part($1 || ' 0 0', ' ', 3)::float8))
       order by scope, hours, starts_at limit $2`,
      ({ place }) => place,
      look,
    );
  }

  /** Reads a whole table by its key, page by page. */
  private async pages<Row extends object>(
    sql: string,
    keyOf: (row: Row) => string,
    look: (row: Row) => void,
    beforeAll = BEFORE_ALL,
  ): Promise<void> {
    let after = beforeAll;
    for (;;) {
      const { rows } = await this.tx.query<Row>(sql, [after, ROWS_PER_PAGE]);
      rows.forEach(look);
      if (rows.length < ROWS_PER_PAGE) return;
      after = keyOf(rows.at(-1)!);
    }
  }
}
