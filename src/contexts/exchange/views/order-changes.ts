import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { OrderRecord } from '../domain/order-record.js';

export interface ChangedOrder {
  readonly id: string;
  readonly revision: number;
  readonly record: OrderRecord;
}

/** Which of these orders have moved on? */
@Injectable()
export class OrderChanges {
  constructor(private readonly database: Database) {}

  /** Those of which there is more than the revision that is known, one look for all of them. */
  async since(known: ReadonlyMap<string, number>): Promise<readonly ChangedOrder[]> {
    const rows = await this.database.query<{ id: string; revision: string; body: string }>(
      `select o.id, o.revision, o.body from unnest($1::uuid[], $2::bigint[]) as known (id, revision)
       join exchange.orders o on o.id = known.id and o.revision > known.revision`,
      [[...known.keys()], [...known.values()]],
    );
    return rows.map(({ id, revision, body }) => ({
      id,
      revision: Number(revision),
      record: JSON.parse(body) as OrderRecord,
    }));
  }
}
