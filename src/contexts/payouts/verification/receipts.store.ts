import { Injectable } from '@nestjs/common';
import type { CheckedTables } from '../../../platform/context.js';
import { Database } from '../../../platform/postgres/database.js';
import type { TableComparison } from '../../../platform/projections/compare-tables.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import type { ReceiptSource } from './verification.js';

/** The receipts of received payouts, as nodes sent them, by SHA-256. No row is changed or deleted. */
@Injectable()
export class Receipts {
  constructor(private readonly database: Database) {}

  /** Stores new receipts. Receipts without a text are too large and are omitted. */
  async keep(sources: readonly ReceiptSource[]): Promise<void> {
    const texts = new Map(sources.flatMap(({ sha256, text }) => (text === null ? [] : [[sha256, text]])));
    if (texts.size === 0) return;
    await this.database.query(
      `insert into payouts.receipts (sha256, receipt)
       select decode(sha256, 'hex'), receipt from unnest($1::text[], $2::text[]) as kept (sha256, receipt)
       order by sha256 on conflict do nothing`,
      [[...texts.keys()], [...texts.values()]],
    );
  }

  async find(sha256: string): Promise<string | null> {
    const [row] = await this.database.query<{ receipt: string }>(
      `select receipt from payouts.receipts where sha256 = decode($1, 'hex')`,
      [sha256],
    );
    return row?.receipt ?? null;
  }
}

export class ReceiptsCheck implements TableCheck {
  readonly name = 'payouts.receipts';

  constructor(private readonly tables: Pick<CheckedTables, 'query'>) {}

  async add(): Promise<void> {}

  async compare(): Promise<readonly TableComparison[]> {
    const [row] = await this.tables.query<{ rows: number; altered: string[] | null }>(
      `select count(*)::float8 as rows, array_agg(encode(sha256, 'hex'))
         filter (where sha256 <> sha256(convert_to(receipt, 'UTF8'))) as altered from payouts.receipts`,
      [],
    );
    const altered = row!.altered ?? [];
    const first = altered.map(
      (hash) => `${this.name} ${hash}: it does not have that SHA-256, it was changed`,
    );
    return [{ table: this.name, rows: row!.rows, different: altered.length, first }];
  }
}
