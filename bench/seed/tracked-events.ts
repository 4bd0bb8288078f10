import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/** Users that events are spread over. */
const USERS = 20_000;
const MONTH_MS = 30 * 86_400_000;
const LEAVES = 32;

/** The body of a batch of new events of many users, as a shop's server would send them: about 300 bytes each. */
export function processableBatch(items: number): Buffer {
  const from = Date.now() - MONTH_MS;
  const events = Array.from({ length: items }, (_, i) => ({
    event_name: 'Checkout Completed',
    payload: {
      amount: '12.50',
      currency: 'USDC',
      items: [{ sku: `sku-${i}`, quantity: 2 }],
      returning: i % 2 === 0,
    },
    event_datetime: new Date(from + Math.floor(Math.random() * MONTH_MS)).toISOString(),
    event_id: randomUUID(),
    user_external_id: `customer-${Math.floor(Math.random() * USERS)}`,
    device_id: randomUUID(),
  }));
  return Buffer.from(JSON.stringify({ events }));
}

/** `count` earlier events of the merchant, spread evenly over so many months up to the present one. */
export async function seedEvents(
  pool: pg.Pool,
  merchantId: string,
  count: number,
  months: number,
  progress: (text: string) => void,
): Promise<void> {
  const each = Math.round(count / months);
  for (let ago = months - 1; ago >= 0; ago -= 1) {
    progress(`${each} earlier events, ${ago} months ago`);
    await pool.query(earlierEvents('tracking.events'), [merchantId, monthStart(-ago), each]);
  }
}

/** When the month so many after the present one began, in UTC. */
export function monthStart(months: number): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months));
}

/** Rows like those that batches become; `$1` the merchant, `$2` when they were received, `$3` how many. */
export function earlierEvents(table: string): string {
  return `insert into ${table}
      (merchant_id, event_id, received_at, user_external_id, event_name, event_datetime, device_id, payload)
    select $1::uuid, gen_random_uuid(), $2::timestamptz, 'customer-' || (random() * ${USERS})::int, 'checkout completed',
      $2::timestamptz + random() * interval '30 days', gen_random_uuid()::text,
      '{"amount":"12.50","currency":"USDC","items":[{"sku":"sku-' || i || '","quantity":2}],"returning":true}'
    from generate_series(1, $3::int) i`;
}

/** Puts bodies where the API puts accepted batches, all in one commit. */
export async function acceptAll(
  client: pg.ClientBase,
  table: string,
  merchantId: string,
  bodies: readonly Buffer[],
  items: number,
): Promise<void> {
  await client.query('begin');
  for (let at = 0; at < bodies.length; at += LEAVES) {
    const part = bodies.slice(at, at + LEAVES);
    await client.query(
      `insert into ${table} (batch_id, merchant_id, received_at, item_count, body) values ${part
        .map((_, i) => `(gen_random_uuid(), $1, clock_timestamp(), $2, $${i + 3})`)
        .join()}`,
      [merchantId, items, ...part],
    );
  }
  await client.query('commit');
}
