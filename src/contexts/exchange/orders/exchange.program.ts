import type { Command } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import type { CliContext, CliOutcome } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { EraseOrderUser, ERASING_ORDERS, type ErasedOrders } from './order-operations.commands.js';
import { existingOrder, order } from './order.js';
import { ORDER_VIEWS, OrdersView } from './orders.view.js';

interface Options {
  readonly order?: string;
  readonly key?: string;
  readonly userId?: string;
  readonly yes?: true;
}

/** `npm run exchange -- erase`: erases the personal data of orders; the orders stay. */
export function exchangeProgram(program: Command, cli: CliContext): void {
  const command = program
    .description('Erases whom orders were for, and sets what the pay page displays.')
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
    const loop = context.get(CommandLoop, { strict: false });
    const { merchant_id } = existingOrder(await loop.loadForDisplay(order, one));
    return describe(context, await write(new EraseOrderUser(subject, { api_key }), merchant_id));
  });
}

/** Returns the subject of the operation, and in `one` an order of it, which determines the merchant. */
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
