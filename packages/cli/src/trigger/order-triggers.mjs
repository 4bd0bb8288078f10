// The triggers of order types (docs/contract.md 13.9): orders of the sandbox's provider, paid on the dev chain.
import { exchangeClientOf } from '../credentials.mjs';
import { Problem } from '../terminal.mjs';
import { outcomeOf } from './outcome.mjs';

const PAIR = 'USDCSOL';
/** Nothing is paid out in the sandbox: the hash is no transaction. */
const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
/** Reads of the exchange are limited per key. */
const POLL_MS = 300;

const ORDER = { withdraw_address: 'of Solana; default: an invented one', user_id: 'your id of a user' };

/** Triggers in the shape of TRIGGERS. */
export const ORDER_TRIGGERS = {
  'order.completed': {
    does: 'creates an order and pays it; the provider of the sandbox exchanges it',
    takes: ORDER,
    run: completeOrder,
  },
  'order.failed': {
    does: 'creates an order that the provider of the sandbox cannot exchange',
    takes: ORDER,
    run: failOrder,
  },
  'order.refundable': {
    does: 'creates an order, cancels it, and pays it too late',
    takes: { ...ORDER, amount: 'that is paid, in USDC; default: 7' },
    run: payTooLate,
  },
  'order.refunded': {
    does: 'creates an order and pays too little, which the provider of the sandbox refunds',
    takes: { ...ORDER, amount: 'that is paid, in USDC, less than the order; default: 40' },
    run: refundOrder,
  },
};

async function completeOrder({ merchant, keys, set }) {
  const { order, pay, until } = await createdOrder(merchant, keys, set);
  await pay(order.amount_from);
  const { status } = await until(({ status: at }) => at !== 'pending' && at !== 'processing');
  if (status !== 'completed') throw new Problem(`The order ${order.id} is ${status}, not completed.`);
  return happened(order, 'is completed');
}

async function failOrder({ merchant, keys, set }) {
  const { order } = await createdOrder(merchant, keys, set);
  await merchant.sandbox.failOrder(order.id);
  return happened(order, 'has failed');
}

async function payTooLate({ merchant, keys, set: { amount = '7', ...query } }) {
  const { order, exchange, pay, until } = await createdOrder(merchant, keys, query);
  await exchange.orders.cancel(order);
  await pay(amount);
  const { amount_refundable } = await until(({ amount_refundable: due }) => due !== '0');
  return happened(order, `is cancelled, and ${amount_refundable} USDC are refundable`);
}

async function refundOrder({ merchant, keys, set: { amount = '40', ...query } }) {
  const { order, pay, until } = await createdOrder(merchant, keys, query);
  await pay(amount);
  const { amount_received } = await until(({ amount_received: received }) => received !== '0');
  await merchant.sandbox.refundOrder(order.id);
  return happened(order, `is refunded, ${amount_received} USDC`);
}

/** A new order, with how it is paid and read. */
async function createdOrder(merchant, keys, { withdraw_address = ADDRESS, user_id }) {
  const exchange = exchangeClientOf(keys);
  const query = { pair_id: PAIR, withdraw_address, ...(user_id !== undefined && { user_id }) };
  const { order } = (await exchange.orders.create(query)).data;
  const read = async () => (await exchange.orders.get(order)).data.order;
  return {
    order,
    exchange,
    pay: (amount) => merchant.sandbox.transfer({ to: order.deposit_address, amount }),
    until: (isReached) => outcomeOf(read, isReached, `order ${order.id}`, POLL_MS),
  };
}

function happened({ id }, what) {
  return { subject: { order_id: id }, note: `order ${id} ${what}` };
}
