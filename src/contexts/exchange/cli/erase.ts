import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { CliContext, CliOutcome } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { EraseOrderUser, ERASING_ORDERS, type ErasedOrders } from '../application/erase-order.js';
import { existingOrder, order } from '../domain/order.js';
import { ORDER_VIEWS } from '../views/order-projection.js';
import { OrdersView } from '../views/orders.js';

interface Options {
  readonly order?: string;
  readonly key?: string;
  readonly userId?: string;
  readonly yes?: true;
}

/** `exchange erase`: who orders were for is forgotten; the orders stay. */
export function eraseCommand(program: Command, cli: CliContext): void {
  const command = program
    .command('erase')
    .description('erase user_id, tag and memo of orders that have ended; amounts and addresses stay')
    .option('--order <order-id>', 'of one order')
    .option('--key <api-key>', 'of the orders of a user: the key that created them')
    .option('--user-id <id>', 'of the orders of a user: the user_id that the merchant gave')
    .option('--yes', 'do it: nothing restores the data, short of a backup');
  writes(command, cli, async function (context, write) {
    const options = this.opts<Options>();
    const plan = planOf(options);
    if (options.yes !== true)
      throw new DomainError('bad_request', 'Nothing restores the data once it is erased: give --yes');
    return describe(context, await write(...(await plan(context))));
  });
}

function planOf({ order: id, key, userId: given }: Options) {
  const userId = given?.trim();
  if (id !== undefined && key === undefined && userId === undefined) {
    if (!isUuid(id)) throw DomainError.notFound('Order');
    return (context: INestApplicationContext) => erasure(context, id.toLowerCase(), id.toLowerCase(), null);
  }
  if (id !== undefined || !isUuid(key) || userId === undefined || userId === '')
    throw new DomainError('bad_request', 'Give --order, or --key and --user-id');
  return async (context: INestApplicationContext) => {
    if (!(await context.get(SubscriptionProgress).waitUntilCurrent(ORDER_VIEWS)))
      throw new DomainError('unavailable', 'The list of orders is behind: start a worker, or try again');
    const orders = context.get(OrdersView, { strict: false });
    const apiKey = key.toLowerCase();
    const [first] = await orders.ofUser(apiKey, userId);
    return erasure(context, orders.userHash(apiKey, userId), first ?? null, apiKey);
  };
}

/** `one` of the orders says whose they are. */
async function erasure(
  context: INestApplicationContext,
  subject: string,
  one: string | null,
  apiKey: string | null,
) {
  const loop = context.get(CommandLoop, { strict: false });
  const merchantId =
    one === null ? null : existingOrder(await loop.loadForDisplay(order, one)).facts.merchant_id;
  return [new EraseOrderUser(subject, { api_key: apiKey }), merchantId] as const;
}

async function describe(
  context: INestApplicationContext,
  { erased, not_ended: open, position }: ErasedOrders,
): Promise<CliOutcome> {
  const isDone = await context.get(SubscriptionProgress).waitFor(ERASING_ORDERS, position);
  const text = [
    `Erased: ${erased.length} ${erased.length === 1 ? 'order' : 'orders'}.`,
    ...(isDone ? [] : ['No worker has dropped their keys yet: it happens once one runs.']),
    ...(open.length === 0
      ? []
      : [`Not ended, and not erased; repeat the command later:\n${open.join('\n')}`]),
    'A process that has just read an order can read its personal data for another minute.',
  ].join('\n');
  return { text, json: { erased: erased.length, keys_dropped: isDone, not_ended: open } };
}
