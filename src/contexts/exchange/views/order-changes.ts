import { Injectable } from '@nestjs/common';
import { streamOf } from '../../../kernel/aggregate.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import { Database } from '../../../platform/postgres/database.js';
import { order, type MadeOrder } from '../domain/order.js';
import type { OrderEvent } from '../domain/order-events.js';
import { foldOrder } from './order-fold.js';

export interface ChangedOrder {
  readonly id: string;
  readonly revision: number;
  readonly state: MadeOrder;
}

/** Which of these orders have moved on? */
@Injectable()
export class OrderChanges {
  constructor(
    private readonly database: Database,
    private readonly codec: EventCodec,
  ) {}

  /** Those of which there is more than the revision that is known, one look for all of them. */
  async since(known: ReadonlyMap<string, number>): Promise<readonly ChangedOrder[]> {
    const rows = await this.database.query<{ id: string; revision: string; events: string }>(
      `select o.id, o.revision, o.events from unnest($1::uuid[], $2::bigint[]) as known (id, revision)
       join exchange.orders o on o.id = known.id and o.revision > known.revision`,
      [[...known.keys()], [...known.values()]],
    );
    return Promise.all(
      rows.map(async ({ id, revision: text, events: stored }) => {
        const revision = Number(text);
        const sealed = (JSON.parse(stored) as { type: string; data: JsonObject }[]).map((event) => ({
          ...event,
          stream: streamOf(order, id),
        }));
        const events = (await this.codec.open(sealed)) as unknown as OrderEvent[];
        // A row is of an order that was created.
        return { id, revision, state: foldOrder({ revision, events }) as MadeOrder };
      }),
    );
  }
}
