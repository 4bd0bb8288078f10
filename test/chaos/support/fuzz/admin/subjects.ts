import { handInIdentity } from '../../../../../packages/cli/src/trigger/onboarding.mjs';
import { SANDBOX_NAMES } from '../../../../../src/contexts/onboarding/identity/image-kind.js';
import type { AdminClient } from '../../../../support/admin/admin-client.js';
import { eventually } from '../../../../support/eventually.js';
import { addUser, issueFor, newOrder, type MarkedMerchant } from './merchants.js';

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

/** Adds a user whose identity is under review, so that it may be decided and the step retried. */
export async function addUnderReview(merchant: MarkedMerchant, widgetUrl: string): Promise<void> {
  const user = { id: await addUser(merchant), phone_number: merchant.found['phone_number']!.at(-1)! };
  const person = { first_name: 'Ada', last_name: SANDBOX_NAMES.review };
  await handInIdentity({ widgetUrl, merchantId: merchant.id, user, ...person });
}

/** Adds a completed order with a refundable overpayment of 33.5 USDC. */
export async function addRefundable(admin: AdminClient, merchant: MarkedMerchant): Promise<void> {
  const { treasury, ids } = merchant;
  const order = await newOrder(merchant);
  await treasury.transfer(order.deposit_address, SOLD_MINOR);
  const statusOf = async (id: string): Promise<string> =>
    (await admin.get(`/orders/${id}`)).json<{ order: { status: string } }>().order.status;
  await eventually(async () => (await statusOf(order.id)) === 'completed');
  await treasury.transfer(order.deposit_address, LATE_MINOR);
  ids['orders']!.push(order.id);
}
