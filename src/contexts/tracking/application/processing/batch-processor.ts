import { Injectable } from '@nestjs/common';
import type { PoolClient, QueryResult } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { failpoint } from '../../../../platform/failpoints.js';
import { PATIENCE_MS } from '../../../../platform/postgres/bounded.js';
import { Database } from '../../../../platform/postgres/database.js';
import { timestamp } from './accepted-batches.js';
import { EVENT_COLUMNS } from './event-rows.js';
import { KnownEvents, type EventPartition } from './known-events.js';
import { SEALING_LOCK } from './month-filters.js';
import { PreparedBatches } from './prepared-batches.js';

/** First half of the advisory locks of merchants; the second is a hash of the merchant's id. */
const MERCHANT_LOCKS = 7331;
/** A process that stands still, or whose host is gone, loses the lock of its merchant after this. */
const STANDSTILL_MS = 30_000;
const COPY = 'copy tracking.events';

/** `busy`: another process is at this merchant. `stale`: it has been since the batches were read. */
export type Processed =
  { readonly outcome: 'processed'; readonly newEvents: number } | { readonly outcome: 'busy' | 'stale' };

interface PartitionRow {
  readonly table: string;
  readonly name: string;
  readonly sealed: boolean;
  /** Microseconds since 2000 of the end of the newest sealed month; the same in each row. */
  readonly open_from: string | null;
}

class Stale extends Error {}

/**
 * Makes events of accepted batches: finds out which were sent before, adds the others and marks the batches, in one
 * transaction under the lock of the merchant. A crash leaves them accepted (ADR 0082).
 */
@Injectable()
export class BatchProcessor {
  constructor(
    private readonly database: Database,
    private readonly known: KnownEvents,
  ) {}

  async process(merchantId: string, prepared: PreparedBatches): Promise<Processed> {
    try {
      return await this.database.transaction(
        (tx, began) => this.processIn(tx, began, prepared),
        // What it holds is in the batches as well, which stay accepted when a crash of the database loses the commit.
        { begin: beginFor(merchantId), bounded: true },
      );
    } catch (error) {
      if (error instanceof Stale) return { outcome: 'stale' };
      throw error;
    }
  }

  /**
   * Ends what a process holds that stands still in the middle of its copy: there PostgreSQL heeds none of the timeouts
   * of a session.
   */
  async endStandstills(): Promise<void> {
    await this.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and usename = current_user and state = 'active' and wait_event = 'ClientRead'
         and query like '${COPY}%' and query_start < clock_timestamp() - make_interval(secs => $1)`,
      [STANDSTILL_MS / 1000],
    );
  }

  private async processIn(
    tx: PoolClient,
    began: readonly QueryResult[],
    given: PreparedBatches,
  ): Promise<Processed> {
    if ((began.at(-2)!.rows[0] as { locked: boolean }).locked !== true) return { outcome: 'busy' };
    failpoint('processing.locked');
    const partitions = began.at(-1)!.rows as PartitionRow[];
    const prepared = keptOutOfSealedMonths(given, partitions[0]?.open_from ?? null);
    const known = await this.known.among(prepared.ids, prepared.merchant, asPartitions(partitions), tx);
    const newEvents = prepared.ids.length / 16 - known.size;
    failpoint('processing.deduplicated');
    if (newEvents > 0) await this.copy(prepared.copyData(known), tx);
    failpoint('processing.inserted');
    await this.mark(prepared, known, tx);
    failpoint('processing.marked');
    return { outcome: 'processed', newEvents };
  }

  private async copy(data: readonly Buffer[], tx: PoolClient): Promise<void> {
    const stream = tx.query(copyFrom(`${COPY} (${EVENT_COLUMNS}) from stdin (format binary)`));
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('query read timeout')),
        this.database.patienceMs ?? PATIENCE_MS,
      );
      const settle = (end: () => void) => (): void => {
        clearTimeout(timer);
        end();
      };
      stream.on('finish', settle(resolve));
      stream.on('error', (error) => settle(() => reject(error))());
      for (const part of data) stream.write(part);
      stream.end();
    });
  }

  private async mark(prepared: PreparedBatches, known: ReadonlySet<number>, tx: PoolClient): Promise<void> {
    const { batches } = prepared;
    const places = batches.map(
      ({ batchId, receivedAt }, index) =>
        `('${batchId}'::uuid, ${timestamp(receivedAt)}, $${index + 1}::bytea)`,
    );
    const { rowCount } = await tx.query(
      this.database.bounded({
        text: `update tracking.batches batch
            set state = 'processed', processed_at = clock_timestamp(), forward_at = clock_timestamp(), new_items = done.bits
            from (values ${places.join()}) done (batch_id, received_at, bits)
            where batch.batch_id = done.batch_id and batch.received_at = done.received_at and state = 'accepted'`,
        values: prepared.newItems(known),
      }),
    );
    if (rowCount !== batches.length) throw new Stale();
  }
}

/**
 * Sealing waits for whoever holds its lock shared, and nobody who takes it after that sees the month unsealed. Both
 * statements see what was committed before the locks were had.
 */
function beginFor(merchantId: string): string {
  return `begin; set local synchronous_commit = off;
    set local idle_in_transaction_session_timeout = ${STANDSTILL_MS};
    select pg_advisory_xact_lock_shared(${SEALING_LOCK});
    select pg_try_advisory_xact_lock(${MERCHANT_LOCKS}, hashtext('${merchantId}')) as locked;
    select inhrelid::regclass::text as table, relname as name, sealed.partition is not null as sealed,
      (select (extract(epoch from max(ends_at) - timestamptz '2000-01-01 00:00:00Z') * 1000000)::bigint
       from tracking.sealed_months) as open_from
    from pg_inherits join pg_class on oid = inhrelid left join tracking.sealed_months sealed on partition = relname
    where inhparent = 'tracking.events'::regclass`;
}

function asPartitions(rows: readonly PartitionRow[]): readonly EventPartition[] {
  return rows.map(({ table, name, sealed }) => ({ table, name, sealed }));
}

/** A batch that comes to be processed when its month is sealed counts as of the month after. */
function keptOutOfSealedMonths(prepared: PreparedBatches, openFrom: string | null): PreparedBatches {
  if (openFrom === null) return prepared;
  const from = BigInt(openFrom);
  const late = prepared.batches.some(({ receivedAt }) => receivedAt < from);
  return late ? new PreparedBatches(prepared.merchant, prepared.batches, from) : prepared;
}
