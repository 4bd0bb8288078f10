import { randomBytes } from 'node:crypto';
import type { AdminClient } from '../../../../support/admin/admin-client.js';
import { PHOTO } from '../../../../support/onboarding/images.js';
import { eventually } from '../../../../support/eventually.js';
import {
  addUser,
  customerOf,
  expectStatus,
  issueFor,
  WITHDRAW_ADDRESS,
  type MarkedMerchant,
} from './merchants.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const DETAILS = {
  first_name: 'Ada',
  // The sandbox keeps people of this name under review.
  last_name: 'Review',
  date_of_birth: '1985-12-10',
  terms_version: 'sandbox',
  privacy_version: 'sandbox',
};
const SOLD_MINOR = 100_000_000;
const LATE_MINOR = 33_500_000;

/** Adds keys that fuzzed requests may roll, revoke, and report as leaked. */
export async function addVictims(admin: AdminClient, merchant: MarkedMerchant): Promise<void> {
  const [key, leaked] = [
    await issueFor(admin, merchant, { kind: 'exchange' }),
    await issueFor(admin, merchant, { kind: 'exchange' }),
  ];
  merchant.ids['credentials']!.push(key.id);
  merchant.tokens.push(leaked.secret);
}

/** Adds a user whose identity is under review: the step may be retried, and the identity decided. */
export async function addUnderReview(merchant: MarkedMerchant, widgetUrl: string): Promise<void> {
  const user = await addUser(merchant);
  const phone_number = merchant.found['phone_number']!.at(-1)!;
  const browser = randomBytes(16).toString('hex');
  const post = async (
    name: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
  ): Promise<unknown> => {
    const url = `${widgetUrl}/onboarding/${merchant.id}/${user}/${name}`;
    const response = await fetch(url, { method: 'POST', body, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const step = (name: string, body: object, headers = {}): Promise<unknown> =>
    post(name, JSON.stringify({ browser, ...body }), { ...JSON_TYPE, ...headers });
  await step('code', { phone_number });
  const { code } = (await step('inbox', {})) as { readonly code: string };
  const { session } = (await step('phone', { phone_number, code })) as { readonly session: string };
  const headers = { authorization: `Bearer ${session}` };
  await step('details', DETAILS, headers);
  for (const kind of ['document_front', 'selfie'])
    await post(`images/${kind}`, new Uint8Array(PHOTO), { 'content-type': 'image/jpeg', ...headers });
  await step('identity', {}, headers);
}

/** Adds a completed order that more came for: 33.5 USDC, which may be refunded. */
export async function addRefundable(admin: AdminClient, merchant: MarkedMerchant): Promise<void> {
  const { exchange, treasury, mark, ids } = merchant;
  const query = { pair_id: 'USDCSOL', withdraw_address: WITHDRAW_ADDRESS, user_id: customerOf(mark) };
  const created = expectStatus(await exchange.call({ method: 'POST', path: '/v1/orders', query }), 201);
  const { order } = created.json<{ order: { id: string; deposit_address: string } }>();
  await treasury.transfer(order.deposit_address, SOLD_MINOR);
  const statusOf = async (id: string): Promise<string> =>
    (await admin.get(`/orders/${id}`)).json<{ order: { status: string } }>().order.status;
  await eventually(async () => (await statusOf(order.id)) === 'completed');
  await treasury.transfer(order.deposit_address, LATE_MINOR);
  ids['orders']!.push(order.id);
}
