import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { ItemsBitmap } from './accepted-batches.js';

/** Events changed in one statement. */
const CHUNK = 1000;

interface BatchRow {
  readonly body: Buffer;
  readonly state: string;
  readonly item_count: number;
  readonly new_items: Buffer | null;
  readonly forward_done: Buffer | null;
}
type Rewrite = (body: Buffer) => { readonly body: Buffer; readonly items: readonly number[] } | null;

/** Events of persons who are erased: their ids stay, so that nothing is counted again, and nothing else. */
@Injectable()
export class ErasedEvents {
  constructor(private readonly database: Database) {}

  /** Checks whether batches of the merchant from before that time are not processed yet. */
  async isBehind(merchantId: string, time: string): Promise<boolean> {
    const rows = await this.database.query(
      `select from tracking.batches where merchant_id = $1 and state = 'accepted' and received_at <= $2 limit 1`,
      [merchantId, time],
    );
    return rows.length > 0;
  }

  /** Blanks some events of the person, and deletes rows about their forwarding. True when there may be more. */
  async blankSome(merchantId: string, externalId: string): Promise<boolean> {
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
       ), sent as (
         delete from tracking.sandbox_analytics sent using blanked where sent.insert_id = blanked.event_id
       ) select from blanked`,
      [merchantId, externalId],
    );
    return rows.length > 0;
  }

  /** Ids of the merchant's processed batches. */
  async batches(merchantId: string): Promise<string[]> {
    const rows = await this.database.query<{ batch_id: string }>(
      `select batch_id from tracking.batches where merchant_id = $1 and state <> 'accepted' order by received_at`,
      [merchantId],
    );
    return rows.map(({ batch_id }) => batch_id);
  }

  /** False when there is nothing to change. Locks the row: another erasure may rewrite it at the same time. */
  rewrite(batchId: string, rewrite: Rewrite): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<BatchRow>(
        `select body, state, item_count, new_items, forward_done from tracking.batches
         where batch_id = $1 and state <> 'accepted' for update`,
        [batchId],
      );
      const [row] = rows;
      const rewritten = row === undefined ? null : rewrite(row.body);
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

/** Events that are not forwarded yet are never forwarded. */
function unsent(row: BatchRow, items: readonly number[]): Buffer | null {
  if (row.new_items === null || row.state !== 'processed') return row.new_items;
  const pending = ItemsBitmap.read(row.new_items, row.item_count);
  const done = ItemsBitmap.read(row.forward_done, row.item_count);
  for (const item of items) if (!done.has(item)) pending.delete(item);
  return pending.bytes;
}
