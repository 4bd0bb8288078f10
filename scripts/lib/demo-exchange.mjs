// The demo of an exchange order: from the quote to the hash of what was paid out.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { dim, elapsed, green, Problem, printLine, step, table } from './terminal.mjs';
import { transferUsdc } from './transfer-usdc.mjs';

/** Where the exchanged SOL goes: any Solana address. */
const WITHDRAW_ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const SETTLED_TIMEOUT_MS = 60_000;

export const EXCHANGE_TITLE = 'an exchange order, from USDC on the dev chain to SOL';

export async function exchangeDemo({ base_url, pay_url, chain, exchange }) {
  const began = performance.now();
  const { api_key, secret } = exchange;
  const signatureOf = (address) =>
    createHmac('sha256', secret).update(`withdraw_address=${address}`).digest('hex');
  const signature = signatureOf(WITHDRAW_ADDRESS);
  const call = (status, method, path, query, headers) =>
    expect(status, method, new URL(`${path}?${new URLSearchParams(query)}`, base_url), headers);
  let order;
  await step('Tokens', async () => {
    const { tokens } = await call(200, 'GET', '/v1/tokens', { api_key, to_token: 'sol' });
    return tokens.map(({ name, pair_ids }) => `${name} (${pair_ids.join(', ')})`).join(', ');
  });
  await step('Order', async () => {
    const query = { api_key, signature, pair_id: 'USDCSOL', withdraw_address: WITHDRAW_ADDRESS };
    ({ order } = await call(201, 'POST', '/v1/orders', { ...query, user_id: 'demo' }));
    return `${order.id}, ${order.amount_from} USDC for ${order.amount_to} SOL`;
  });
  await step('Deposit', async () => {
    const { hash, blockNumber } = await transferUsdc(chain, order.deposit_address, order.amount_from);
    return `${order.amount_from} USDC in block ${blockNumber}, ${hash.slice(0, 18)}…`;
  });
  await step('Settlement', async () => {
    const until = performance.now() + SETTLED_TIMEOUT_MS;
    while (order.status !== 'completed') {
      if (performance.now() > until || ['failed', 'expired', 'refunded'].includes(order.status)) {
        const waited = elapsed(SETTLED_TIMEOUT_MS);
        throw new Problem(`The order is ${order.status} and not completed (waited up to ${waited}).`);
      }
      await sleep(100);
      ({ order } = await call(200, 'PATCH', `/v1/orders/${order.id}/refresh`, { api_key, signature }));
    }
    return `${order.status}, ${order.amount_to} SOL paid out`;
  });
  await step('List', async () => {
    const day = new Date().toISOString().slice(0, 10);
    const query = { start_date: day, end_date: day, status: 'completed', user_id: 'demo' };
    const headers = { 'X-Api-Key': api_key, 'X-Signature': signatureOf('') };
    const { total_count, orders } = await call(200, 'GET', '/v1/merchant/orders', query, headers);
    if (!orders.some(({ id }) => id === order.id)) throw new Problem('The list lacks the order.');
    return `${total_count} completed today for this user, the order among them`;
  });
  const page = new URL('/widget', pay_url);
  page.search = new URLSearchParams({ api_key, withdraw_address: WITHDRAW_ADDRESS, signature });
  printLine(`\n  ${green('Completed')} ${dim(`after ${elapsed(performance.now() - began)}.`)}\n`);
  table([
    ['deposit', order.deposit_transaction_hash],
    ['payout', order.withdraw_transaction_hash],
    ['pay page', page.href],
  ]);
}

async function expect(status, method, url, headers = {}) {
  const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(30_000) }).catch(
    (error) => {
      throw new Problem(`${url.origin} does not respond (${error.cause?.code ?? error.message}).`);
    },
  );
  const body = await response.json();
  if (response.status === status) return body;
  throw new Problem(
    `${method} ${url.pathname} responded with ${response.status} instead of ${status}: ${body.detail}`,
  );
}
