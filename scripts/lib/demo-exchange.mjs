// The demo of an exchange order: from the quote to the hash of what was paid out.
import { setTimeout as sleep } from 'node:timers/promises';
import { clientsOf } from './sandbox-clients.mjs';
import { dim, elapsed, green, Problem, printLine, step, table } from './terminal.mjs';
import { transferUsdc } from './transfer-usdc.mjs';

/** Where the exchanged SOL goes: any Solana address. */
const WITHDRAW_ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const SETTLED_TIMEOUT_MS = 60_000;

export const EXCHANGE_TITLE = 'an exchange order, from USDC on the dev chain to SOL';

export async function exchangeDemo(sandbox) {
  const began = performance.now();
  const { exchange } = await clientsOf(sandbox);
  const { orders } = exchange;
  let order;
  await step('Tokens', async () => {
    const { tokens } = (await exchange.tokens({ to_token: 'sol' })).data;
    return tokens.map(({ name, pair_ids }) => `${name} (${pair_ids.join(', ')})`).join(', ');
  });
  await step('Order', async () => {
    const query = { pair_id: 'USDCSOL', withdraw_address: WITHDRAW_ADDRESS, user_id: 'demo' };
    ({ order } = (await orders.create(query)).data);
    return `${order.id}, ${order.amount_from} USDC for ${order.amount_to} SOL`;
  });
  await step('Deposit', async () => {
    const { hash, blockNumber } = await transferUsdc(sandbox.chain, order.deposit_address, order.amount_from);
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
      ({ order } = (await orders.refresh(order)).data);
    }
    return `${order.status}, ${order.amount_to} SOL paid out`;
  });
  await step('List', async () => {
    const day = new Date().toISOString().slice(0, 10);
    const query = { start_date: day, end_date: day, status: 'completed', user_id: 'demo' };
    const listed = await orders.list(query).all();
    if (!listed.some(({ id }) => id === order.id)) throw new Problem('The list lacks the order.');
    return `${listed.length} completed today for this user, the order among them`;
  });
  const page = { token: 'sol', withdraw_address: WITHDRAW_ADDRESS };
  const { signed_url } = (await exchange.configuration(page)).data;
  printLine(`\n  ${green('Completed')} ${dim(`after ${elapsed(performance.now() - began)}.`)}\n`);
  table([
    ['deposit', order.deposit_transaction_hash],
    ['payout', order.withdraw_transaction_hash],
    ['pay page', signed_url],
  ]);
}
