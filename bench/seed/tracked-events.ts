import { randomUUID } from 'node:crypto';
import type pg from 'pg';

const USERS = 20_000;
const MONTHS_KEPT = 25;
const MONTH_MS = 30 * 86_400_000;

/** Returns a batch of new events of many users, about 340 bytes each. */
export function eventBatch(items: number): string {
  const from = Date.now() - MONTH_MS;
  const events = Array.from({ length: items }, (_, i) => ({
    event_name: 'Checkout Completed',
    payload: {
      amount: '12.50',
      currency: 'USDC',
      screen: 'checkout',
      step: i,
      items: [{ sku: `sku-${i}`, quantity: 2 }],
      returning: i % 2 === 0,
    },
    event_datetime: new Date(from + Math.floor(Math.random() * MONTH_MS)).toISOString(),
    event_id: randomUUID(),
    user_external_id: `customer-${Math.floor(Math.random() * USERS)}`,
    device_id: randomUUID(),
  }));
  return JSON.stringify({ events });
}

/** Adds earlier events of the merchant, spread evenly over the retained months. */
export async function seedEvents(pool: pg.Pool, table: string, merchantId: string, count: number) {
  await pool.query(
    `insert into ${table}
       (merchant_id, event_id, received_at, user_external_id, event_name, event_datetime, device_id, payload)
     select $1::uuid, gen_random_uuid(), month, 'customer-' || (random() * ${USERS})::int, 'checkout completed',
       month + random() * interval '30 days', gen_random_uuid()::text,
       '{"amount":"12.50","currency":"USDC","items":[{"sku":"sku-' || i || '","quantity":2}],"returning":true}'
     from generate_series(${1 - MONTHS_KEPT}, 0) ago,
       lateral (select date_trunc('month', now(), 'UTC') + ago * interval '1 month' as month) at,
       generate_series(1, $2::int / ${MONTHS_KEPT}) i`,
    [merchantId, count],
  );
  await pool.query('vacuum analyze');
}

/** Stores bodies as accepted batches, all in one commit. */
export async function acceptAll(
  client: pg.ClientBase,
  table: string,
  merchantId: string,
  bodies: readonly Buffer[],
  items: number,
): Promise<void> {
  await client.query('begin');
  for (const body of bodies) {
    await client.query(
      `insert into ${table} (batch_id, merchant_id, received_at, item_count, body)
       values (gen_random_uuid(), $1, clock_timestamp(), $2, $3)`,
      [merchantId, items, body],
    );
  }
  await client.query('commit');
}
