import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { streamOf } from '../../../kernel/aggregate.js';
import { isDecimal } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { isUuid } from '../../../kernel/ids.js';
import { asciiDigits } from '../../../kernel/typed-text.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { EVENT_STORE, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import {
  limitOption,
  cliAction,
  type CliContext,
  type CliOutcome,
} from '../../../platform/cli/cli-context.js';
import { RecordRefund } from '../application/record-refund.js';
import { writes } from '../../../platform/cli/write.js';
import { readEvmAddress } from '../domain/addresses.js';
import { existingOrder, order, amountRefundable, shortfall, type ExistingOrder } from '../domain/order.js';
import { ORDER_STATUSES } from '../domain/order-events.js';
import { orderRecord } from '../domain/order-record.js';
import { currencyOf } from '../domain/catalog.js';
import { OrdersView, type OperatorOrder } from '../views/orders.js';

/** `exchange orders`, `exchange order` and `exchange refund`. */
export function orderCommands(program: Command, cli: CliContext): void {
  program
    .command('orders')
    .description('list orders, newest first, with the amount of each that is refundable')
    .option('--status <status>', ORDER_STATUSES.join(', '))
    .option('--refundable', 'only those with a refundable amount')
    .option('--shortfall', 'only those paid out whose deposits are no longer on the chain')
    .option('--key <api-key>', 'only those created with this key')
    .addOption(limitOption())
    .action(async function (this: Command) {
      const { key = null, limit, ...given } = this.opts<ListOptions>();
      const { refundable: isRefundable = false, shortfall: isShort = false } = given;
      const status = ORDER_STATUSES.find((known) => known === given.status) ?? null;
      if (given.status !== undefined && status === null)
        throw new DomainError('bad_request', `--status must be one of ${ORDER_STATUSES.join(', ')}`);
      if (key !== null && !isUuid(key)) throw new DomainError('bad_request', '--key must be a uuid');
      await cliAction(cli, async (context) => {
        const filter = { status, keyId: key, isRefundable, isShort, limit };
        const orders = await context.get(OrdersView, { strict: false }).listed(filter);
        return {
          text: orders.map(lineOf).join('\n') || 'No orders',
          json: { orders: orders.map(listedJson) },
          displays: { subject: 'orders', merchantIds: orders.map(({ state }) => state.facts.merchant_id) },
        };
      }).call(this);
    });

  program
    .command('order <order-id>')
    .description('display an order: its current state, its refundable amount, and every event')
    .action(cliAction(cli, (context, id) => history(context, orderId(id))));

  const refund = program
    .command('refund <order-id>')
    .description('record a refund; repeating it with the same transaction has no effect')
    .requiredOption('--amount <amount>', 'how much of the refundable amount, a decimal')
    .requiredOption('--transaction <hash>', 'the transaction of the refund')
    .option('--to <address>', 'the recipient, unless it is an address that paid the order');
  writes(refund, cli, async function (context, write, id) {
    const { amount: given, transaction, to = null } = this.opts<RefundOptions>();
    const amount = asciiDigits(given);
    if (!isDecimal(amount)) throw new DomainError('bad_request', '--amount must be a decimal, such as 12.5');
    const recipient = to === null ? null : readEvmAddress(to);
    if (recipient instanceof Fault) throw new DomainError('bad_request', `--to ${recipient.message}`);
    const subject = orderId(id);
    const { merchant_id: merchantId, pair_id } = (await loaded(context, subject)).facts;
    const parameters = { amount, transaction_hash: transaction.trim(), recipient };
    const { unchecked } = await write(new RecordRefund(subject, parameters), merchantId);
    const refundable = amountRefundable(await loaded(context, subject));
    const currency = currencyOf(pair_id);
    const notice = unchecked === null ? '' : ` (${unchecked})`;
    return {
      text: `Recorded: ${amount} ${currency}${notice}; ${refundable} ${currency} is still refundable`,
      json: { refundable, currency, is_checked: unchecked === null },
    };
  });
}

async function loaded(context: INestApplicationContext, id: string): Promise<ExistingOrder> {
  return existingOrder(await context.get(CommandLoop, { strict: false }).loadForDisplay(order, id));
}

interface ListOptions {
  readonly status?: string;
  readonly refundable?: true;
  readonly shortfall?: true;
  readonly key?: string;
  readonly limit: number;
}

interface RefundOptions {
  readonly amount: string;
  readonly transaction: string;
  readonly to?: string;
}

async function history(context: INestApplicationContext, id: string): Promise<CliOutcome> {
  const state = await loaded(context, id);
  const store = context.get<EventStore>(EVENT_STORE, { strict: false });
  const events = await store.readStream(streamOf(order, id));
  const displays = { subject: `order ${id}`, merchantIds: [state.facts.merchant_id] };
  return { text: historyText(state, events), json: historyJson(state, events), displays };
}

function orderId(text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound('Order');
  return text.toLowerCase();
}

function listedJson({ state, nextCheckAt }: OperatorOrder) {
  const { order_id, key_id, pair_id, provider, created_at } = state.facts;
  return {
    order_id,
    key_id,
    pair_id,
    provider,
    created_at,
    status: state.status,
    refundable: amountRefundable(state),
    shortfall: shortfall(state),
    late_outcomes: state.lateOutcomes,
    next_check_at: nextCheckAt,
  };
}

function lineOf({ state }: OperatorOrder): string {
  const { order_id, pair_id, created_at } = state.facts;
  const currency = currencyOf(pair_id);
  const [refundable, lost] = [amountRefundable(state), shortfall(state)];
  return [
    ...[order_id, created_at, pair_id.padEnd(10), state.status.padEnd(10)],
    ...(refundable === '0' ? [] : [`refundable ${refundable} ${currency}`]),
    ...(lost === '0' ? [] : [`paid out, deposit missing: ${lost} ${currency}`]),
    ...(state.lateOutcomes.length === 0 ? [] : [`the provider, later: ${state.lateOutcomes.join(', ')}`]),
  ].join('  ');
}

function historyJson(state: ExistingOrder, events: readonly RecordedEvent[]): object {
  const { key_id, merchant_id, provider, provider_reference } = state.facts;
  return {
    order: orderRecord(state),
    key_id,
    merchant_id,
    provider,
    provider_reference,
    refundable: amountRefundable(state),
    shortfall: shortfall(state),
    currency: currencyOf(state.facts.pair_id),
    dust: { count: state.dust.count, amount: state.dust.amount },
    late_outcomes: state.lateOutcomes,
    refunds: state.refunds,
    events: events.map(({ type, data, recordedAt }) => ({ type, recorded_at: recordedAt, data })),
  };
}

function historyText(state: ExistingOrder, events: readonly RecordedEvent[]): string {
  const { facts, lateOutcomes, dust } = state;
  const record = Object.entries(orderRecord(state)).filter(([, value]) => !Array.isArray(value));
  const rest = {
    key: facts.key_id,
    merchant: facts.merchant_id,
    provider: `${facts.provider} ${facts.provider_reference}`,
    refundable: `${amountRefundable(state)} ${currencyOf(facts.pair_id)}`,
    ...(shortfall(state) === '0'
      ? {}
      : { 'deposit missing': `${shortfall(state)} ${currencyOf(facts.pair_id)} were paid out without it` }),
    ...(dust.count === 0 ? {} : { dust: `${dust.amount} in ${dust.count} transfers` }),
    ...(lateOutcomes.length === 0 ? {} : { 'the provider, later': lateOutcomes.join(', ') }),
  };
  const lines = [...record, ...Object.entries(rest)].map(
    ([name, value]) => `  ${name.padEnd(26)}  ${value === null ? '-' : String(value)}`,
  );
  return [...lines, '', ...events.map(eventText)].join('\n');
}

/** Without the fields of the first event, which the order has. */
function eventText({ type, data, recordedAt }: RecordedEvent): string {
  const all = type === 'order.created.v1' ? [] : Object.entries(data);
  const fields = all.filter(([name]) => !['order_id', 'merchant_id', 'key_id', 'at'].includes(name));
  return `  ${recordedAt.toISOString()}  ${type}  ${fields.map(([name, value]) => `${name} ${String(value)}`).join(', ')}`.trimEnd();
}
