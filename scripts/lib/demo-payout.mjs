// The demo of a payout: from a new user to a verified webhook.
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MerchantClient, startReceiver } from './merchant-client.mjs';
import { dim, elapsed, green, Problem, printLine, step, steps, table } from './terminal.mjs';
import { transferUsdc } from './transfer-usdc.mjs';

const AMOUNT = '12.50';
const DESCRIPTION = 'npm run demo';
const WEBHOOK_TIMEOUT_MS = 60_000;
const EVENTS_TIMEOUT_MS = 10_000;

export const PAYOUT_TITLE = 'a payout, from a new user to a verified webhook';

export async function payoutDemo(sandbox) {
  report(await journey(sandbox));
}

async function journey(sandbox) {
  const began = performance.now();
  const merchant = new MerchantClient(sandbox.base_url, sandbox.merchant);
  let webhook = null;
  const receiver = await startReceiver((body, headers) => webhook.verify(body, headers));
  let endpoint = null;
  try {
    await step('Receiver', async () => {
      const { Webhook } = await import('standardwebhooks');
      endpoint = await registerEndpoint(merchant, receiver.url);
      webhook = new Webhook(endpoint.signing_secret);
      return `${receiver.url}, registered as a webhook endpoint`;
    });
    const user = await createUser(merchant);
    const transfer = await broadcast(sandbox.chain, user.issuer_wallet_address);
    const arrival = receiver.next(
      ({ type, data }) => type === 'payout.received' && data.transaction_hash === transfer,
      WEBHOOK_TIMEOUT_MS,
      `No payout.received arrived within ${elapsed(WEBHOOK_TIMEOUT_MS)}. Is PAYOUT_FINALITY set to more than 1? The dev chain makes a block per transaction only. The log of the service has details.`,
    );
    // A failure before the webhook is awaited is reported already.
    arrival.catch(() => undefined);
    steps.begin('Webhook');
    const payout = await reportPayout(merchant, user, transfer);
    const delivery = await arrival;
    steps.done('Webhook', `${delivery.event.type}, verified by standardwebhooks`);
    const balance = await readBalance(merchant, user, payout);
    await sendEvents(merchant, user);
    return { delivery, balance, took: performance.now() - began };
  } finally {
    if (endpoint)
      await merchant.request('DELETE', `/webhook_endpoints/${endpoint.id}`).catch(() => undefined);
    await receiver.close();
  }
}

/** Endpoints of demos that were interrupted go first: a merchant may have ten. */
async function registerEndpoint(merchant, url) {
  const { body: list } = await merchant.expect(200, 'GET', '/webhook_endpoints');
  for (const { id, description } of list.webhook_endpoints) {
    if (description === DESCRIPTION) await merchant.expect(204, 'DELETE', `/webhook_endpoints/${id}`);
  }
  const body = { webhook_endpoint: { url, description: DESCRIPTION } };
  return (await merchant.expect(201, 'POST', '/webhook_endpoints', body)).body.webhook_endpoint;
}

async function createUser(merchant) {
  let user;
  await step('User', async () => {
    const phone_number = `+14152${String(randomInt(1_000_000)).padStart(6, '0')}`;
    const body = { phone_number, external_id: `demo-${randomUUID()}` };
    ({ user } = (await merchant.expect(201, 'POST', '/users', body)).body);
    return `${user.id}, ${user.account_state}`;
  });
  await step('Onboarding', async () => {
    const path = `/sandbox/users/${user.id}/complete_onboarding`;
    await merchant.expect(200, 'POST', path);
    ({ user } = (await merchant.expect(200, 'GET', `/users/${user.id}`)).body);
    if (user.account_state !== 'active') throw new Problem(`The user is ${user.account_state}, not active.`);
    return `${user.account_state}, wallet ${user.issuer_wallet_address}`;
  });
  return user;
}

/** The merchant's own business: it pays in USDC on the chain, with any library, before it reports. */
async function broadcast(chain, to) {
  let hash;
  await step('Transfer', async () => {
    const sent = await transferUsdc(chain, to, AMOUNT);
    ({ hash } = sent);
    return `${AMOUNT} USDC in block ${sent.blockNumber}, ${hash.slice(0, 18)}…`;
  });
  return hash;
}

async function reportPayout(merchant, user, transaction_hash) {
  const body = {
    user_id: user.id,
    payout: { amount: AMOUNT, transaction_hash, custom_metadata: { invoice: 'demo-1' } },
  };
  const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
  let payout;
  await step('Report', async () => {
    ({ payout } = (await merchant.expect(201, 'POST', '/payouts/report', body, headers)).body);
    return `201, payout ${payout.id}, ${payout.status}`;
  });
  await step('Report again', async () => {
    const again = await merchant.expect(201, 'POST', '/payouts/report', body, headers);
    const replayed = again.headers.get('idempotent-replayed');
    if (replayed !== 'true' || JSON.stringify(again.body.payout) !== JSON.stringify(payout))
      throw new Problem('The repeat under one Idempotency-Key got a different response.');
    return `the same response, Idempotent-Replayed: ${replayed}`;
  });
  return payout;
}

async function readBalance(merchant, user, { id }) {
  let balance;
  await step('Balance', async () => {
    const { payout } = (await merchant.expect(200, 'GET', `/payouts/${id}`)).body;
    ({ balance } = (await merchant.expect(200, 'GET', `/users/${user.id}/balance`)).body);
    if (payout.status !== 'received') throw new Problem(`The payout is ${payout.status}, not received.`);
    return `payout ${payout.status}; confirmed ${balance.confirmed}, pending ${balance.pending} ${balance.currency_code}`;
  });
  return balance;
}

/** Twice the same batch, as after a lost response: the event counts once. */
async function sendEvents(merchant, user) {
  const event = {
    event_id: randomUUID(),
    event_name: 'Payout Seen',
    event_datetime: new Date().toISOString(),
    user_external_id: user.external_id,
    payload: { screen: 'wallet' },
  };
  await step('Events', async () => {
    await merchant.expect(202, 'POST', '/events', { events: [event] });
    await merchant.expect(202, 'POST', '/events', { events: [event] });
    const until = performance.now() + EVENTS_TIMEOUT_MS;
    for (;;) {
      const { events } = (await merchant.expect(200, 'GET', `/users/${user.id}/events`)).body;
      if (events.length === 1) return `sent twice, once in the user's journey: ${events[0].event_name}`;
      if (performance.now() > until) throw new Problem(`The journey has ${events.length} events, not 1.`);
      await sleep(50);
    }
  });
}

function report({ delivery: { headers, event }, took }) {
  printLine(`\n  ${green('Verified')} ${dim(`after ${elapsed(took)}. This is what arrived:`)}\n`);
  table(['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headers[name]]));
  printLine();
  for (const line of JSON.stringify(event, null, 2).split('\n')) printLine(`  ${line}`);
  printLine();
}
