import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { isOfMerchants, operationsOf, readDocument } from '../../../test/support/docs/reference.js';
import type { BodyOf, Disburse, Payout, PortalSession, WebhookEvent } from '../src/index.js';

/** Never called: the compiler checks it (`npm run typecheck`). A missing error does not compile. */
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
  const payouts: Payout[] = await client.payouts.list().all();
  (await client.payouts.get('p')).data.payout satisfies Payout;
  // @ts-expect-error no such member
  void payouts[0]?.state;
  const sessions: PortalSession[] = await client.portalSessions.list().all();
  // @ts-expect-error no such member
  void sessions[0]?.secret;
}

it('the types of the package compile', () => expect(doesNotCompile).toBeInstanceOf(Function));

/** Names of the schemas that are members or items of a response. */
function resources(): string[] {
  const document = readDocument();
  const schemaNamed = (ref: string) =>
    document.components.schemas[ref.split('/').at(-1)!] as { readonly properties?: object };
  const responses = operationsOf(document)
    .filter(isOfMerchants)
    .flatMap(({ responses: all }) => Object.entries(all))
    .flatMap(([status, { content }]) => (status.startsWith('2') ? Object.values(content ?? {}) : []));
  const members = responses.flatMap(({ schema }) =>
    Object.values(schemaNamed(schema.$ref!).properties ?? {}),
  );
  const names = JSON.stringify(members).matchAll(/#\/components\/schemas\/(\w+)/g);
  return [...new Set([...names].map(([, name]) => name!))].sort();
}

it.each([
  ['../src/types.ts', /export type \w+ = Schemas\['(\w+)'\]/g],
  ['../../python/src/disburse/__init__.py', /^ {4}(\w+)(?: as \w+)?,$/gm],
])('every resource of a response has a type in %s', (file, pattern) => {
  const exported = readFileSync(new URL(file, import.meta.url), 'utf8').matchAll(pattern);
  const names = new Set([...exported].map(([, name]) => name));
  expect(resources().length).toBeGreaterThan(15);
  expect(resources().filter((name) => !names.has(name))).toEqual([]);
});
