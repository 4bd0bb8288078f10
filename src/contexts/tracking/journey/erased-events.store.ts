import { Injectable } from '@nestjs/common';
import { failpoint } from '../../../platform/failpoints.js';
import { Forgets, type ErasedPerson } from '../../../platform/operations/erasure.js';
import { Database } from '../../../platform/postgres/database.js';
import { ItemsBitmap, type BatchRow } from '../batches/accepted-batches.store.js';
import { bodyWithout } from '../batches/batch-items.store.js';

const CHUNK = 1000;

type BatchState = Pick<BatchRow, 'body' | 'state' | 'item_count' | 'new_items' | 'forward_done'>;

/** Blanks the events of erased persons. The event ids remain, so that a repeated event is not counted. */
@Injectable()
export class ErasedEvents {
  constructor(private readonly database: Database) {}

  /** Blanks the person's events. Returns false if aborted or if batches before the erasure are pending. */
  @Forgets('tracking')
  async forget({ merchantId, externalId, erasedAt }: ErasedPerson, signal: AbortSignal): Promise<boolean> {
    if (externalId === null) return true;
    if (await this.isBehind(merchantId, erasedAt)) return false;
    while (await this.blankSome(merchantId, externalId)) if (signal.aborted) return false;
    failpoint('erasure.events_blanked');
    const batches = await this.database.query<{ batch_id: string }>(
      `select batch_id from tracking.batches where merchant_id = $1 and state <> 'accepted' order by received_at`,
      [merchantId],
    );
    for (const { batch_id } of batches) {
      if (signal.aborted) return false;
      if (await this.rewrite(batch_id, externalId)) failpoint('erasure.batch_rewritten');
    }
    return true;
  }

  async isBehind(merchantId: string, time: string): Promise<boolean> {
    const rows = await this.database.query(
      `select from tracking.batches where merchant_id = $1 and state = 'accepted' and received_at <= $2 limit 1`,
      [merchantId, time],
    );
    return rows.length > 0;
  }

  /** Blanks up to CHUNK events and deletes their refusals. Returns true when more may remain. */
  private async blankSome(merchantId: string, externalId: string): Promise<boolean> {
    const rows = await this.database.query(
      `with picked as materialized (
         select event_id from tracking.events where merchant_id = $1 and user_external_id = $2 limit ${CHUNK}
       ), blanked as (
         update tracking.events event set user_external_id = '', event_name = '', device_id = null, payload = '{}'
         from picked where event.merchant_id = $1 and event.event_id = picked.event_id and user_external_id = $2
         returning event.event_id
       ), refused as (
         delete from tracking.refused_events refused using blanked
         where refused.merchant_id = $1 and refused.event_id = blanked.event_id
       ) select from blanked`,
      [merchantId, externalId],
    );
    return rows.length > 0;
  }

  /** Blanks the person's events in one batch. Returns false if nothing changes. A lock orders erasures. */
  rewrite(batchId: string, externalId: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<BatchState>(
        `select body, state, item_count, new_items, forward_done from tracking.batches
         where batch_id = $1 and state <> 'accepted' for update`,
        [batchId],
      );
      const [row] = rows;
      const rewritten = row === undefined ? null : withoutPerson(batchId, row.body, externalId);
      if (row === undefined || rewritten === null) return false;
      await tx.query('update tracking.batches set body = $2, new_items = $3 where batch_id = $1', [
        batchId,
        rewritten.body,
        unsent(row, rewritten.items),
      ]);
      return true;
    });
  }
}

/** Returns `new_items` without the person's pending items, so that they are not forwarded. */
function unsent(row: BatchState, items: readonly number[]): Buffer | null {
  if (row.new_items === null || row.state !== 'processed') return row.new_items;
  const pending = ItemsBitmap.read(row.new_items, row.item_count);
  const done = ItemsBitmap.read(row.forward_done, row.item_count);
  for (const item of items) if (!done.has(item)) pending.delete(item);
  return pending.bytes;
}

function withoutPerson(batchId: string, body: Buffer, externalId: string): ReturnType<typeof bodyWithout> {
  try {
    return bodyWithout(body, externalId);
  } catch {
    // The parser's error is not passed on, because it quotes the text.
    throw new Error(`the body of batch ${batchId} cannot be read`);
  }
}
