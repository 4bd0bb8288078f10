import { expect, it } from '@jest/globals';
import type { BodyOf, Disburse, WebhookEvent } from '../src/index.js';

/** Never called: the compiler checks it (`npm run typecheck`). An expected error that is none does not compile. */
export async function doesNotCompile(client: Disburse, event: WebhookEvent): Promise<void> {
  // @ts-expect-error a misspelt field
  await client.users.create({ phone: '+15551230001' });
  const payout = { amount: '1', currency_code: 'USDC', transaction_hash: '0x' } as const;
  // @ts-expect-error an amount is a string
  await client.payouts.report({ user_id: 'u', payout: { ...payout, amount: 1 } });
  // @ts-expect-error no such currency
  await client.payouts.report({ user_id: 'u', payout: { ...payout, currency_code: 'EUR' } });
  // @ts-expect-error no such filter
  client.payouts.list({ state: 'received' });
  // @ts-expect-error no such status
  client.payouts.list({ status: 'done' });
  // @ts-expect-error no such event
  if (event.type === 'payout.recieved') return;
  if (event.type === 'payout.received') {
    event.data.payout_id satisfies string;
    // @ts-expect-error of a failed payout alone
    void event.data.reason;
  }
  if (event.type === 'payout.failed') event.data.reason satisfies string | null;
  if (event.type === 'order.refundable') {
    event.data.cause satisfies 'cancelled' | 'failed' | 'above_maximum' | 'late_deposit' | 'small_deposits';
    // @ts-expect-error of a failed order alone
    void event.data.reason;
  }
  // @ts-expect-error no such type
  await client.webhookEndpoints.register({ webhook_endpoint: { url: 'u', event_types: ['order.done'] } });
  const body: BodyOf<'createUser'> = { phone_number: '+15551230001', email: null };
  await client.users.create(body);
}

it('has types that the compiler checks', () => {
  expect(doesNotCompile).toBeInstanceOf(Function);
});
