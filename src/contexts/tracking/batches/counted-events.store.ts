import { Injectable } from '@nestjs/common';
import type { PoolClient, QueryResult } from 'pg';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import type { BatchEvent } from './event-batch.js';
import { ItemsBitmap, type AcceptedBatch } from './accepted-batches.store.js';

/** The first half of a merchant's advisory lock; the second is a hash of the id. */
const MERCHANT_LOCKS = 7331;
/** The time after which a stalled process loses the lock. */
const STALLED_MS = 30_000;
/** The SQLSTATE classes of invalid rows: data, constraints, server limits. */
const DATA_CLASSES = new Set(['22', '23', '54']);
const COLUMNS = [
  'event_id',
  'user_external_id',
  'event_name',
  'event_datetime',
  'device_id',
  'payload',
] as const;

/** The batches were processed concurrently. */
class Stale extends Error {}

@Injectable()
export class CountedEvents {
  constructor(private readonly database: Database) {}

  /**
   * Inserts the events with new ids and marks the batches, in one transaction under the merchant's lock (ADR 82). `events`
   * have distinct ids. Returns the number of new events, or null when another process has the lock or has processed the
   * batches.
   */
  async count(
    merchantId: string,
    batches: readonly AcceptedBatch[],
    events: readonly BatchEvent[],
  ): Promise<number | null> {
    try {
      return await this.database.transaction(
        async (tx, began) => {
          if (!lockedIn(began)) return null;
          const added = await this.insert(merchantId, batches, events, tx);
          await this.mark(batches, added, tx);
          return added.length;
        },
        // Asynchronous commit is safe: after a lost commit the batches are still accepted and contain the data.
        { begin: beginFor(merchantId), bounded: true },
      );
    } catch (error) {
      if (error instanceof Stale) return null;
      throw error;
    }
  }

  private async insert(
    merchantId: string,
    batches: readonly AcceptedBatch[],
    events: readonly BatchEvent[],
    tx: PoolClient,
  ): Promise<readonly BatchEvent[]> {
    const times = batches.map(({ received_at }) => received_at.toISOString());
    const { rows } = await tx.query<{ event_id: string }>(
      this.database.withTimeout({
        text: `insert into tracking.events
            (merchant_id, received_at, event_id, user_external_id, event_name, event_datetime, device_id, payload)
          select $1, item.*
          from unnest($2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[]) item
          on conflict do nothing returning event_id`,
        values: [merchantId, events.map(({ batch }) => times[batch]), ...columnArrays(events, ...COLUMNS)],
      }),
    );
    const added = new Set(rows.map(({ event_id }) => event_id));
    return events.filter(({ event_id }) => added.has(event_id));
  }

  private async mark(
    batches: readonly AcceptedBatch[],
    added: readonly BatchEvent[],
    tx: PoolClient,
  ): Promise<void> {
    const newItems = batches.map(({ item_count }) => ItemsBitmap.none(item_count));
    for (const { batch, item } of added) newItems[batch]!.add(item);
    const { rowCount } = await tx.query(
      this.database.withTimeout({
        text: `update tracking.batches batch
            set state = 'processed', processed_at = clock_timestamp(), forward_at = clock_timestamp(), new_items = done.bits
            from unnest($1::uuid[], $2::bytea[]) as done (batch_id, bits)
            where batch.batch_id = done.batch_id and state = 'accepted'`,
        values: [batches.map(({ batch_id }) => batch_id), newItems.map(({ bytes }) => bytes)],
      }),
    );
    if (rowCount !== batches.length) throw new Stale();
  }
}

/** Checks whether the data caused the error, so that a retry is useless. */
export function isDataError(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && DATA_CLASSES.has(code.slice(0, 2));
}

function beginFor(merchantId: string): string {
  return `begin; set local synchronous_commit = off;
    set local idle_in_transaction_session_timeout = ${STALLED_MS};
    select pg_try_advisory_xact_lock(${MERCHANT_LOCKS}, hashtext('${merchantId}')) as locked`;
}

function lockedIn(began: readonly QueryResult[]): boolean {
  return (began.at(-1)!.rows[0] as { readonly locked: boolean }).locked;
}
