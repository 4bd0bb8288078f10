import type { Command } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { type CliContext, type CliOutcome, cliAction } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { EraseOrderUser, ERASING_ORDERS, type ErasedOrders } from './order-operations.commands.js';
import { OrderTransfers, type DepositCheck } from './order-transfers.service.js';
import { existingOrder, order, type ExistingOrder } from './order.js';
import { ORDER_VIEWS, OrdersView } from './orders.view.js';

/** The commands of `npm run exchange`, which need the events or the chain's nodes. */
export function exchangeProgram(program: Command, cli: CliContext): void {
  program.description(
    'Erases whom orders were for, checks deposits on their chain, and sets what the pay page displays.',
  );
  eraseCommand(program, cli);
  recheckCommand(program, cli);
}

interface Options {
  readonly order?: string;
  readonly key?: string;
  readonly userId?: string;
  readonly yes?: true;
}

function eraseCommand(program: Command, cli: CliContext): void {
  const command = program
    .command('erase')
    .description('erase user_id, tag and memo of orders that have ended; amounts and addresses stay')
    .option('--order <order-id>', 'of one order')
    .option('--key <api-key>', 'of the orders of a user: the key that created them')
    .option('--user-id <id>', 'of the orders of a user: the user_id that the merchant gave')
    .option('--yes', 'do it: nothing restores the data, short of a backup');
  writes(command, cli, async function (context, write) {
    const options = this.opts<Options>();
    if (options.yes !== true)
      throw new DomainError('bad_request', 'Erased data cannot be restored: confirm with --yes');
    const { subject, one, api_key } = await findSubject(context, options);
    const { merchant_id } = await loadOrder(context, one);
    return describe(context, await write(new EraseOrderUser(subject, { api_key }), merchant_id));
  });
}

function loadOrder(context: INestApplicationContext, id: string): Promise<ExistingOrder> {
  return context.get(CommandLoop, { strict: false }).loadForDisplay(order, id).then(existingOrder);
}

/** Returns the subject of the erasure and, as `one`, the id of an order that determines the merchant. */
async function findSubject(context: INestApplicationContext, { order: id, key, userId: given }: Options) {
  const userId = given?.trim();
  if (id !== undefined && key === undefined && userId === undefined) {
    if (!isUuid(id)) throw DomainError.notFound('Order');
    return { subject: id.toLowerCase(), one: id.toLowerCase(), api_key: null };
  }
  if (id !== undefined || !isUuid(key) || userId === undefined || userId === '')
    throw new DomainError('bad_request', 'Give --order, or --key and --user-id');
  if (!(await context.get(SubscriptionProgress).waitUntilCurrent(ORDER_VIEWS)))
    throw new DomainError('unavailable', 'The list of orders is behind: start a worker, or try again');
  const orders = context.get(OrdersView, { strict: false });
  const api_key = key.toLowerCase();
  const subject = orders.userHash(api_key, userId);
  const [one] = await orders.ofUserHash(api_key, subject);
  if (one === undefined)
    throw new DomainError('not_found', 'No order of this key has this user_id, or all of them are erased');
  return { subject, one, api_key };
}

async function describe(
  context: INestApplicationContext,
  { erased, not_ended, position }: ErasedOrders,
): Promise<CliOutcome> {
  const isDone = await context.get(SubscriptionProgress).waitFor(ERASING_ORDERS, position);
  const text = [
    `Erased: ${erased.length} ${erased.length === 1 ? 'order' : 'orders'}.`,
    !isDone && 'No worker has dropped their keys yet: it happens once one runs.',
    not_ended.length > 0 && `Not ended, and not erased; repeat the command later:\n${not_ended.join('\n')}`,
    'A process that has just read an order can read its personal data for another minute.',
  ]
    .filter((line) => line !== false)
    .join('\n');
  return { text, json: { erased: erased.length, keys_dropped: isDone, not_ended } };
}

const EXIT_MISSING = 2;
const EXIT_INCOMPLETE = 1;

export function recheckCommand(program: Command, cli: CliContext): void {
  program
    .command('recheck')
    .description(
      'ask the nodes of CHAIN_RPC_URL again for every recorded deposit; exit 2 when one is not on the chain, 1 when not all could be checked',
    )
    .option('--from <position>', 'continue after this position of the log')
    .action(async function (this: Command) {
      const { from = null } = this.opts<{ from?: string }>();
      if (from !== null && !/^[0-9]{1,40}$/.test(from))
        throw new DomainError('bad_request', '--from must be a position that this program printed');
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      await cliAction(cli, async (context) => {
        const sum = await recheck(context, from, (finding) =>
          cli.print(asJson ? JSON.stringify(finding) : toLine(finding)),
        );
        const { on_chain, missing, unknown, orders_elsewhere } = sum;
        // The check is also incomplete if no order's chain has a configured node.
        const isIncomplete = unknown > 0 || (on_chain + missing === 0 && orders_elsewhere > 0);
        if (missing > 0) cli.exit(EXIT_MISSING);
        else if (isIncomplete) cli.exit(EXIT_INCOMPLETE);
        return { text: summary(sum), json: sum };
      }).call(this);
    });
}

/** A missing or unknown deposit. `--from <position>` resumes at its order; null is the start of the log. */
type Finding = DepositCheck & { readonly order_id: string; readonly position: string | null };

function toLine({ order_id, deposit_id, position, found, why }: Finding): string {
  const place = `order ${order_id}, deposit ${deposit_id} (after position ${position ?? 'none'})`;
  return `${found.toUpperCase().padEnd(8)} ${place}: ${why}`;
}

/** The number of deposits by finding, the number of orders on other chains, and the last position read. */
interface Sum extends Record<DepositCheck['found'] | 'orders_elsewhere', number> {
  position: string | null;
}

/** Checks the deposits of orders after `from`. Calls `report` at once for each missing or unknown deposit. */
async function recheck(
  context: INestApplicationContext,
  from: string | null,
  report: (finding: Finding) => void,
): Promise<Sum> {
  const store = context.get<EventStore>(EVENT_STORE, { strict: false });
  const transfers = context.get(OrderTransfers, { strict: false });
  const sum: Sum = { on_chain: 0, missing: 0, unknown: 0, orders_elsewhere: 0, position: from };
  for await (const events of logPages(store, { after: from, end: await store.head() }))
    for (const { type, data, position } of events) {
      if (type === 'order.created.v1') {
        const order_id = String(data['order_id']);
        const deposits = await transfers.checkDeposits(await loadOrder(context, order_id));
        if (deposits === null) sum.orders_elsewhere += 1;
        for (const { deposit_id, found, why } of deposits ?? []) {
          sum[found] += 1;
          if (why !== null) report({ order_id, deposit_id, position: sum.position, found, why });
        }
      }
      sum.position = position;
    }
  return sum;
}

function summary({ on_chain, missing, unknown, orders_elsewhere: elsewhere, position }: Sum): string {
  return [
    `${on_chain + missing + unknown} deposits checked, up to position ${position ?? 'none'}: ${on_chain} on the chain, ${missing} missing`,
    unknown > 0 && `${unknown} could not be checked: try again`,
    elsewhere > 0 &&
      `${elsewhere} orders with deposits are on chains without a node (CHAIN_RPC_URL, CHAIN_ID, USDC_ADDRESS)`,
  ]
    .filter((line) => line !== false)
    .join('\n');
}
