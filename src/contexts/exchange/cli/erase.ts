import { userInfo } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { operate, type Operator, type Outcome } from '../../../platform/operator/operator.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { EraseOrder, ERASING_ORDERS } from '../application/erase-order.js';
import { ORDER_VIEWS } from '../views/order-projection.js';
import { OrdersView } from '../views/orders.js';

interface Options {
  readonly order?: string;
  readonly key?: string;
  readonly userId?: string;
  readonly by: string;
  readonly yes?: true;
}

/** `exchange erase`: who orders were for is forgotten; the orders stay. */
export function eraseCommand(program: Command, operator: Operator): void {
  program
    .command('erase')
    .description('erase user_id, tag and memo of orders that have ended; amounts and addresses stay')
    .option('--order <order-id>', 'of one order')
    .option('--key <api-key>', 'of the orders of a user: the key that created them')
    .option('--user-id <id>', 'of the orders of a user: the user_id that the merchant gave')
    .option('--by <name>', 'who does', userInfo().username)
    .option('--yes', 'do it: nothing restores the data, short of a backup')
    .action(async function (this: Command) {
      const options = this.opts<Options>();
      const ids = idsOf(options);
      if (options.yes !== true)
        throw new DomainError('bad_request', 'Nothing restores the data once it is erased: give --yes');
      await operate(operator, async (context) => erase(context, await ids(context), options.by)).call(this);
    });
}

function idsOf({ order, key, userId }: Options) {
  if (order !== undefined && key === undefined && userId === undefined) {
    if (!isUuid(order)) throw DomainError.notFound('Order');
    return async () => [order.toLowerCase()];
  }
  if (order !== undefined || !isUuid(key) || userId === undefined || userId === '')
    throw new DomainError('bad_request', 'Give --order, or --key and --user-id');
  return async (context: INestApplicationContext): Promise<readonly string[]> => {
    const head = await context.get<EventStore>(EVENT_STORE, { strict: false }).head();
    if (!(await context.get(ViewProgress).reached(ORDER_VIEWS, head)))
      throw new DomainError('unavailable', 'The list of orders is behind: start a worker, or try again');
    return context.get(OrdersView, { strict: false }).ofUser(key.toLowerCase(), userId);
  };
}

async function erase(
  context: INestApplicationContext,
  ids: readonly string[],
  actor: string,
): Promise<Outcome> {
  const bus = context.get(CommandBus);
  const open: string[] = [];
  let last: string | null = null;
  for (const id of ids) {
    try {
      last = (await bus.execute(new EraseOrder(id, actor))) ?? last;
    } catch (error) {
      if (ids.length === 1 || !(error instanceof DomainError && error.code === 'invalid_transition'))
        throw error;
      open.push(id);
    }
  }
  const isDone = await context.get(ViewProgress).reached(ERASING_ORDERS, last);
  const erased = ids.length - open.length;
  const text = [
    `Erased: ${erased} ${erased === 1 ? 'order' : 'orders'}.`,
    ...(isDone ? [] : ['No worker has dropped their keys yet: it happens once one runs.']),
    ...(open.length === 0
      ? []
      : [`Not ended, and not erased; repeat the command later:\n${open.join('\n')}`]),
    'A process that has just read an order can read its personal data for another minute.',
  ].join('\n');
  return { text, json: { erased, keys_dropped: isDone, not_ended: open } };
}
