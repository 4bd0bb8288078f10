// A morning's data for the console: what the people who run the service find when they come in.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { handInIdentity } from '../../packages/cli/src/trigger/onboarding.mjs';
import { clientsOf } from './sandbox-clients.mjs';
import { Problem } from './terminal.mjs';
import { transferUsdc } from './transfer-usdc.mjs';

/** Where exchanged SOL goes: any Solana address. */
const WITHDRAW_ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
/** Nothing listens there: the port of the discard service. */
const DEAD_RECEIVER = 'http://127.0.0.1:9/webhooks';
const WAIT_MS = 60_000;
const PEOPLE = ['ada', 'grace', 'katherine'];

const withoutOutput = (_name, work) => work(() => undefined);

/**
 * Writes the data through the APIs of a running sandbox and returns what there is now. `step` runs and reports each part;
 * `receiver` is the URL of an endpoint whose deliveries fail.
 */
export async function morning(sandbox, { step = withoutOutput, receiver = DEAD_RECEIVER } = {}) {
  const { merchant, exchange } = await clientsOf(sandbox);
  const found = {};

  await step('Endpoint', async () => {
    const { webhook_endpoints } = (await merchant.webhookEndpoints.list()).data;
    const webhook_endpoint = { url: receiver, description: 'a receiver that is down' };
    found.endpoint =
      webhook_endpoints.find(({ url }) => url === receiver) ??
      (await merchant.webhookEndpoints.register({ webhook_endpoint })).data.webhook_endpoint;
    return `${receiver}: every delivery to it fails`;
  });

  await step('Users', async () => {
    found.users = [];
    for (const name of PEOPLE) found.users.push(await activeUser(merchant, name));
    return `${found.users.length}, active`;
  });

  await step('Payouts', async () => {
    const [first, second, third] = found.users;
    const paid = await transferUsdc(sandbox.chain, first.issuer_wallet_address, '25.50');
    found.received = await report(merchant, first, '25.50', paid.hash);
    const short = await transferUsdc(sandbox.chain, second.issuer_wallet_address, '99');
    found.short = await report(merchant, second, '100', short.hash);
    found.missing = await report(merchant, third, '40', `0x${randomBytes(32).toString('hex')}`);
    return 'one verified, one with a wrong amount, one without its transfer';
  });

  await step('Order', async () => {
    found.order = await paidTwice(sandbox.chain, exchange);
    return `${found.order.id}, ${found.order.amount_refundable} USDC refundable`;
  });

  await step('Onboarding', async () => {
    found.inReview = await inReview(merchant, sandbox);
    return `${found.inReview.id}, in review`;
  });

  await step('Operations', async () => {
    const { merchant: shop } = await admin(sandbox, 201, 'POST', '/merchants', { name: 'Night shop' });
    const at = `/merchants/${shop.id}`;
    await write(sandbox, 200, 'POST', at, `${at}/suspend`, {
      reason: 'Chargebacks overnight, calling them at 9',
    });
    const { merchant: corner } = await admin(sandbox, 201, 'POST', '/merchants', { name: 'Corner store' });
    const limit = { limits: { requests_per_minute: 5000 }, reason: 'Their sale starts on Friday' };
    const path = `/merchants/${corner.id}`;
    const { operation } = await write(sandbox, 202, 'PATCH', path, path, limit);
    Object.assign(found, { suspended: shop, raised: corner, operation });
    return 'a suspension to confirm, a higher limit to approve';
  });
  return found;
}

async function activeUser(merchant, name) {
  const phone_number = `+14152${String(randomInt(1_000_000)).padStart(6, '0')}`;
  const body = { phone_number, external_id: `${name}-${randomUUID().slice(0, 8)}` };
  const { user } = (await merchant.users.create(body)).data;
  await merchant.sandbox.completeOnboarding(user.id);
  return (await merchant.users.get(user.id)).data.user;
}

async function report(merchant, user, amount, transaction_hash) {
  const body = {
    user_id: user.id,
    payout: { amount, transaction_hash, custom_metadata: { run: 'morning' } },
  };
  return (await merchant.payouts.report(body)).data.payout;
}

/** An order that is paid a second time after it is completed: the second deposit is refundable. */
async function paidTwice(chain, { orders }) {
  const query = { pair_id: 'USDCSOL', withdraw_address: WITHDRAW_ADDRESS };
  let { order } = (await orders.create(query)).data;
  const until = async (isReached) => {
    const deadline = performance.now() + WAIT_MS;
    while (!isReached(order)) {
      if (performance.now() > deadline) throw new Problem(`The order ${order.id} is still ${order.status}.`);
      await sleep(200);
      ({ order } = (await orders.refresh(order)).data);
    }
  };
  await transferUsdc(chain, order.deposit_address, order.amount_from);
  await until(({ status }) => status === 'completed');
  await transferUsdc(chain, order.deposit_address, '7');
  await until(({ amount_refundable }) => amount_refundable !== '0');
  return order;
}

/** A person whom the sandbox's identity check leaves in review. */
async function inReview(merchant, { widget_url: widgetUrl, merchant: { api_key: merchantId } }) {
  const phone_number = `+14153${String(randomInt(1_000_000)).padStart(6, '0')}`;
  const { user } = (await merchant.users.create({ phone_number })).data;
  const person = { first_name: 'Dorothy', last_name: 'Review' };
  await handInIdentity({ widgetUrl, merchantId, user, ...person });
  return user;
}

/** A write of the admin API, at the revision that was just read. */
async function write(sandbox, status, method, read, path, body) {
  const response = await adminCall(sandbox, 'GET', read);
  return admin(sandbox, status, method, path, body, { 'If-Match': response.headers.get('etag') });
}

async function admin(sandbox, status, method, path, body, headers) {
  const response = await adminCall(
    sandbox,
    method,
    path,
    { reason: 'Demo of the console', ...body },
    headers,
  );
  const result = await response.json();
  if (response.status === status) return result;
  throw new Problem(
    `${method} /admin/v1${path} responded with ${response.status} instead of ${status}: ${result.detail}`,
  );
}

function adminCall({ admin: { base_url, api_key } }, method, path, body, headers = {}) {
  return fetch(`${base_url}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${api_key}`,
      ...(method !== 'GET' && { 'content-type': 'application/json', 'Idempotency-Key': `"${randomUUID()}"` }),
      ...headers,
    },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
}
