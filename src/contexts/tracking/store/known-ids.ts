import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import { hashId, merchantSeed } from './id-filter.js';
import { MonthFilters } from './month-filters.js';

/** A partition of tracking.events. */
export interface EventPartition {
  /** Qualified and quoted for SQL. */
  readonly table: string;
  readonly name: string;
  /** It gets no more events. */
  readonly sealed: boolean;
}

interface Sent {
  readonly eventId: string;
}

/** Which ids a merchant has sent before. */
@Injectable()
export class KnownIds {
  constructor(
    private readonly database: Database,
    private readonly filters: MonthFilters,
  ) {}

  /**
   * The indexes of the events whose ids are in tracking.events. Exact under the lock of the merchant: sealed months are
   * asked only for the ids that their filters let through.
   */
  async among(
    events: readonly Sent[],
    merchantId: string,
    partitions: readonly EventPartition[],
    tx: PoolClient,
  ): Promise<ReadonlySet<number>> {
    const seed = merchantSeed(merchantId);
    const hashes = events.map(({ eventId }) => hashId(eventId, seed));
    const all = events.map((_, index) => index);
    const probes = partitions
      .map(({ table, name, sealed }) => {
        const filter = sealed ? this.filters.of(name) : undefined;
        return { table, indexes: filter ? all.filter((index) => filter.mayHold(hashes[index]!)) : all };
      })
      .filter(({ indexes }) => indexes.length > 0);
    if (probes.length === 0) return new Set();
    const { rows } = await tx.query<{ probe: number; place: number }>(
      this.database.bounded({
        text: probes.map(({ table }, probe) => look(table, probe)).join(' union all '),
        values: [merchantId, ...probes.map(({ indexes }) => indexes.map((index) => events[index]!.eventId))],
      }),
    );
    return new Set(rows.map(({ probe, place }) => probes[probe]!.indexes[place - 1]!));
  }
}

/** One look into an index per id, if the partition holds anything at all; the limit keeps the planner from reading it whole. */
function look(table: string, probe: number): string {
  return `select ${probe} as probe, id.place::int as place
    from unnest($${probe + 2}::uuid[]) with ordinality id (event_id, place)
    cross join lateral (select from ${table} event
      where event.merchant_id = $1::uuid and event.event_id = id.event_id limit 1) found
    where exists (select from ${table})`;
}
