import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../../platform/postgres/database.js';
import { hashId, merchantSeed, type IdFilter, type IdHash } from '../../domain/id-filter.js';
import { MonthFilters } from './month-filters.js';

/** A partition of tracking.events. */
export interface EventPartition {
  /** Qualified and quoted for SQL. */
  readonly table: string;
  readonly name: string;
  /** It gets no more events. */
  readonly sealed: boolean;
}

const UUID_BYTES = 16;
const UUID_OID = 2950;

/** One look into an index per id: each of `$n`, in a partition that holds anything at all. */
interface Probe {
  readonly table: string;
  /** Numbers of the ids to look for; null for all. */
  readonly ids: readonly number[] | null;
}

/** Which ids a merchant has sent before. */
@Injectable()
export class KnownEvents {
  constructor(
    private readonly database: Database,
    private readonly filters: MonthFilters,
  ) {}

  /**
   * The numbers of the ids (16 bytes each) that are in tracking.events. Exact under the lock of the merchant: sealed
   * months are asked only for the ids that their filters let through.
   */
  async among(
    ids: Buffer,
    merchant: Buffer,
    partitions: readonly EventPartition[],
    tx: PoolClient,
  ): Promise<ReadonlySet<number>> {
    const probes = this.probes(ids, merchant, partitions);
    if (probes.length === 0) return new Set();
    const parameters = probes.map((probe) => uuidArray(ids, probe.ids));
    const { rows } = await tx.query<{ probe: number; place: number }>(
      this.database.bounded({
        text: probes.map((probe, index) => look(probe.table, index)).join(' union all '),
        values: [uuidArray(merchant, null), ...parameters],
      }),
    );
    return new Set(rows.map(({ probe, place }) => probes[probe]!.ids?.[place - 1] ?? place - 1));
  }

  private probes(ids: Buffer, merchant: Buffer, partitions: readonly EventPartition[]): Probe[] {
    const probes: Probe[] = [];
    const filtered: { readonly table: string; readonly filter: IdFilter; readonly ids: number[] }[] = [];
    for (const { table, name, sealed } of partitions) {
      const filter = sealed ? this.filters.of(name) : undefined;
      if (filter) filtered.push({ table, filter, ids: [] });
      else probes.push({ table, ids: null });
    }
    const seed = merchantSeed(merchant, 0);
    const hash: IdHash = { first: 0, second: 0 };
    for (let id = 0; id < ids.length / UUID_BYTES; id += 1) {
      hashId(ids, id * UUID_BYTES, seed, hash);
      for (const each of filtered) if (each.filter.mayHold(hash)) each.ids.push(id);
    }
    return [...probes, ...filtered.filter((each) => each.ids.length > 0)];
  }
}

/** The limit keeps the planner from joins that would read a partition whole. */
function look(table: string, index: number): string {
  return `select ${index} as probe, id.place::int as place
    from unnest($${index + 2}::uuid[]) with ordinality id (event_id, place)
    cross join lateral (select from ${table} event
      where event.merchant_id = ($1::uuid[])[1] and event.event_id = id.event_id limit 1) found
    where exists (select from ${table})`;
}

/** An array in PostgreSQL's binary form, of all ids or of those with the numbers. */
function uuidArray(ids: Buffer, numbers: readonly number[] | null): Buffer {
  const count = numbers?.length ?? ids.length / UUID_BYTES;
  const bytes = Buffer.allocUnsafe(20 + count * (4 + UUID_BYTES));
  let at = 0;
  // Dimensions, whether there are nulls, the type, the length, the first index.
  for (const head of [1, 0, UUID_OID, count, 1]) at = bytes.writeInt32BE(head, at);
  for (let each = 0; each < count; each += 1) {
    at = bytes.writeInt32BE(UUID_BYTES, at);
    const from = (numbers?.[each] ?? each) * UUID_BYTES;
    at += ids.copy(bytes, at, from, from + UUID_BYTES);
  }
  return bytes;
}
