import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { MadeOrder } from '../domain/order.js';
import { foldOrder, type KnownOrder } from './order-fold.js';

export interface ChangedOrder {
  readonly id: string;
  readonly revision: number;
  readonly state: MadeOrder;
}

/** Which of these orders have moved on? */
@Injectable()
export class OrderChanges {
  constructor(private readonly database: Database) {}

  /** Those of which there is more than the revision that is known, one look for all of them. */
  async since(known: ReadonlyMap<string, number>): Promise<readonly ChangedOrder[]> {
    const rows = await this.database.query<{ id: string; revision: string; events: string }>(
      `select o.id, o.revision, o.events from unnest($1::uuid[], $2::bigint[]) as known (id, revision)
       join exchange.orders o on o.id = known.id and o.revision > known.revision`,
      [[...known.keys()], [...known.values()]],
    );
    return rows.map(({ id, revision: text, events }) => {
      const revision = Number(text);
      const known: KnownOrder = { revision, events: JSON.parse(events) as KnownOrder['events'] };
      // A row is of an order that was created.
      return { id, revision, state: foldOrder(known) as MadeOrder };
    });
  }
}
