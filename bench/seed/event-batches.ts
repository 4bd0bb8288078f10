import { randomUUID } from 'node:crypto';

/** The body of a batch of new events, as a shop's server would send them: about 340 bytes each. */
export function eventBatch(items: number, users = 100): string {
  const from = Date.now();
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
    event_datetime: new Date(from + i).toISOString(),
    event_id: randomUUID(),
    user_external_id: `customer-${i % users}`,
    device_id: randomUUID(),
  }));
  return JSON.stringify({ events });
}
