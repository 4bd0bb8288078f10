import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Database } from '../../../platform/postgres/database.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { hashId, IdFilter, merchantSeed } from './id-filter.js';
import { MONTHS } from './periods.js';

/**
 * Key of the advisory lock that processing holds shared, and sealing alone: once it has it, nobody is about to add an
 * event to the month.
 */
export const SEALING_LOCK = 7_331_071;
const BUILDING_LOCK = 7_331_072;
const TURN_MS = 60_000;
/** How long after its end a month is sealed: batches received before midnight are on their way. */
const GRACE_MS = 600_000;
const LOCK_PATIENCE_MS = 5000;
/** A process that stands still with the lock loses it after this: until then nobody processes anything. */
const STANDSTILL_MS = 1000;
const PART_BYTES = 4 << 20;
/** Memory that filters may take in a process, those of the newest months first; other months are looked into. */
const MEMORY_BYTES = 512 << 20;
/** Ids of a month are read so many at a time. */
const READ_AT_ONCE = 10_000;
const NIL = '00000000-0000-0000-0000-000000000000';

interface SealedMonth {
  readonly partition: string;
  readonly events: string | null;
}

/**
 * Seals months that are over, makes the filters of their events once, and holds them in memory: years of events cost the
 * deduplication a few cache lines per id instead of a look into an index per id and month (ADR 0083).
 */
@Injectable()
export class MonthFilters {
  readonly work = new BackgroundWork({
    name: 'filters of events',
    everyMs: TURN_MS,
    run: () => this.turn(),
  });
  private readonly filters = new Map<string, IdFilter>();

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The filter of a sealed month, if it is here. */
  of(partition: string): IdFilter | undefined {
    return this.filters.get(partition);
  }

  async turn(): Promise<void> {
    await this.seal();
    await this.build();
    await this.load();
  }

  private async seal(): Promise<void> {
    const rows = await this.database.query<{ name: string; now: Date }>(
      `select relname as name, clock_timestamp() as now from pg_inherits join pg_class on oid = inhrelid
       where inhparent = 'tracking.events'::regclass
         and not exists (select from tracking.sealed_months where partition = relname) order by relname`,
    );
    for (const { name, now } of rows) {
      const end = endOfMonth(name);
      const latest = Math.min(now.getTime(), this.clock.now().getTime()) - GRACE_MS;
      if (end === null || end.getTime() > latest) continue;
      await this.database.transaction(async (tx) => {
        await tx.query(
          `set local lock_timeout = ${LOCK_PATIENCE_MS};
           set local idle_in_transaction_session_timeout = ${STANDSTILL_MS}`,
        );
        await tx.query('select pg_advisory_xact_lock($1)', [SEALING_LOCK]);
        await tx.query(
          `insert into tracking.sealed_months (partition, ends_at)
           select $1, $2 where not exists (select from tracking.batches where state = 'accepted' and received_at < $2)
           on conflict do nothing`,
          [name, end],
        );
      });
    }
  }

  /** One process makes a filter, from what can no longer change. */
  private async build(): Promise<void> {
    for (const { partition, events } of await this.sealed()) {
      if (events !== null) continue;
      await this.database.transaction(async (tx) => {
        // It reads a month, and nobody waits for its lock.
        await tx.query('set local statement_timeout = 0; set local transaction_timeout = 0');
        const lock = await tx.query<{ locked: boolean }>(
          `select pg_try_advisory_xact_lock($1) and exists (select from tracking.sealed_months
             where partition = $2 and events is null) as locked`,
          [BUILDING_LOCK, partition],
        );
        if (lock.rows[0]!.locked) await makeFilter(partition, tx);
      });
    }
  }

  private async load(): Promise<void> {
    const months = await this.sealed();
    const names = new Set(months.map(({ partition }) => partition));
    for (const name of this.filters.keys()) if (!names.has(name)) this.filters.delete(name);
    let bytes = 0;
    for (const { partition, events } of months) {
      bytes += IdFilter.bytesFor(Number(events));
      // Newer months have taken its place.
      if (bytes > MEMORY_BYTES) this.filters.delete(partition);
      else if (events !== null && !this.filters.has(partition))
        this.filters.set(partition, await this.loadOne(partition));
    }
  }

  private async loadOne(partition: string): Promise<IdFilter> {
    const parts: Buffer[] = [];
    for (let part = 0; ; part += 1) {
      const [row] = await this.database.query<{ bits: Buffer }>(
        'select bits from tracking.filter_parts where partition = $1 and part = $2',
        [partition, part],
      );
      if (row === undefined) return IdFilter.of(parts);
      parts.push(row.bits);
    }
  }

  private sealed(): Promise<readonly SealedMonth[]> {
    return this.database.query<SealedMonth & { ends_at: Date }>(
      'select partition, events from tracking.sealed_months order by ends_at desc',
    );
  }
}

/** In pages along the index of the month: it may hold millions of events. */
async function makeFilter(partition: string, tx: PoolClient): Promise<void> {
  const counted = await tx.query<{ events: string }>(`select count(*) as events from tracking.${partition}`);
  const { events } = counted.rows[0]!;
  const filter = IdFilter.for(Number(events));
  let last = { merchant_id: NIL, event_id: NIL };
  for (let read = READ_AT_ONCE; read === READ_AT_ONCE;) {
    const { rows } = await tx.query<typeof last>(
      `select merchant_id, event_id from tracking.${partition}
       where (merchant_id, event_id) > ($1, $2) order by merchant_id, event_id limit ${READ_AT_ONCE}`,
      [last.merchant_id, last.event_id],
    );
    for (const { merchant_id, event_id } of rows) filter.add(hashId(event_id, merchantSeed(merchant_id)));
    last = rows.at(-1) ?? last;
    read = rows.length;
  }
  let part = 0;
  for (const bits of filter.parts(PART_BYTES)) {
    await tx.query('insert into tracking.filter_parts (partition, part, bits) values ($1, $2, $3)', [
      ...[partition, part, bits],
    ]);
    part += 1;
  }
  await tx.query('update tracking.sealed_months set events = $2 where partition = $1', [partition, events]);
}

/** Of a month that the partition keeper made. */
function endOfMonth(partition: string): Date | null {
  const [, year, month] = /^events_(\d{4})(\d{2})$/.exec(partition) ?? [];
  return year === undefined ? null : MONTHS.at(new Date(Date.UTC(Number(year), Number(month) - 1)), 0).to;
}
