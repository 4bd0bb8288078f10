// The demo of a payout: from a new user to a verified webhook.
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientsOf } from './sandbox-clients.mjs';
import { dim, elapsed, green, Problem, printLine, step, steps, table } from './terminal.mjs';
import { transferUsdc } from './transfer-usdc.mjs';
import { startReceiver } from './webhook-arrivals.mjs';

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
  const { merchant } = await clientsOf(sandbox);
  const { verifyWebhook } = await import('@disburse/sdk');
  let endpoint = null;
  const receiver = await startReceiver((body, headers) =>
    verifyWebhook(endpoint.signing_secret, body, headers),
  );
  try {
    await step('Receiver', async () => {
      endpoint = await registerEndpoint(merchant, receiver.url);
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
    steps.done('Webhook', `${delivery.event.type}, its signature verified`);
    const balance = await readBalance(merchant, user, payout);
    await sendEvents(merchant, user);
    return { delivery, balance, took: performance.now() - began };
  } finally {
    if (endpoint) await merchant.webhookEndpoints.delete(endpoint.id).catch(() => undefined);
    await receiver.close();
  }
}

/** Endpoints of demos that were interrupted go first: a merchant may have ten. */
async function registerEndpoint(merchant, url) {
  const { webhookEndpoints } = merchant;
  for (const { id, description } of (await webhookEndpoints.list()).data.webhook_endpoints) {
    if (description === DESCRIPTION) await webhookEndpoints.delete(id);
  }
  const body = { webhook_endpoint: { url, description: DESCRIPTION } };
  return (await webhookEndpoints.register(body)).data.webhook_endpoint;
}

async function createUser(merchant) {
  let user;
  await step('User', async () => {
    const phone_number = `+14152${String(randomInt(1_000_000)).padStart(6, '0')}`;
    ({ user } = (await merchant.users.create({ phone_number, external_id: `demo-${randomUUID()}` })).data);
    return `${user.id}, ${user.account_state}`;
  });
  await step('Onboarding', async () => {
    await merchant.sandbox.completeOnboarding(user.id);
    ({ user } = (await merchant.users.get(user.id)).data);
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
  // The id that the payout has in the merchant's own books: the Idempotency-Key follows from it.
  const options = { idempotencyKey: `demo payout ${randomUUID()}` };
  let payout;
  await step('Report', async () => {
    const { status, data } = await merchant.payouts.report(body, options);
    ({ payout } = data);
    return `${status}, payout ${payout.id}, ${payout.status}`;
  });
  await step('Report again', async () => {
    const { replayed, data } = await merchant.payouts.report(body, options);
    if (!replayed || JSON.stringify(data.payout) !== JSON.stringify(payout))
      throw new Problem('The repeat under one Idempotency-Key got a different response.');
    return `the same response, Idempotent-Replayed: ${replayed}`;
  });
  return payout;
}

async function readBalance(merchant, user, { id }) {
  let balance;
  await step('Balance', async () => {
    const { payout } = (await merchant.payouts.get(id)).data;
    ({ balance } = (await merchant.users.balance(user.id)).data);
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
    await merchant.events.send({ events: [event] });
    await merchant.events.send({ events: [event] });
    const until = performance.now() + EVENTS_TIMEOUT_MS;
    for (;;) {
      const events = await merchant.users.events(user.id).all();
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
