import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../platform/failpoints.js';
import { PersonalResponses } from '../../../platform/idempotency/personal-responses.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import type { OrderPersonalDataErased } from '../domain/order-events.js';
import { eraseOrder, existingOrder, order } from '../domain/order.js';

/**
 * Erases who an order was for (contract.md 23.7) and returns the position to wait for. Throws `not_found`, or
 * `invalid_transition` before the order has ended.
 */
export class EraseOrder extends Command<string | null> {
  constructor(
    readonly orderId: string,
    readonly actor: string,
  ) {
    super();
  }
}

@CommandHandler(EraseOrder)
export class EraseOrderHandler implements ICommandHandler<EraseOrder> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ orderId, actor }: EraseOrder): Promise<string | null> {
    const at = timestamp(this.clock);
    const { position } = await this.loop.execute(
      order,
      orderId,
      (state) => eraseOrder({ actor, at }, existingOrder(state)),
      { metadata: { actor: 'operator' } },
    );
    failpoint('order.erasure_recorded');
    return position;
  }
}

export const ERASING_ORDERS = subscriptionName('exchange.erasing');

/** Drops the keys of orders that are erased, and the stored responses that display them; after a crash again. */
export function erasingOrders(
  keys: Pick<PersonalKeys, 'forget'>,
  responses: Pick<PersonalResponses, 'drop'>,
): SubscriptionDefinition {
  return subscriptionOf<OrderPersonalDataErased>({
    name: ERASING_ORDERS,
    events: ['order.personal_data_erased.v1'],
    async apply(events, tx) {
      const erased = events.map(({ data }) => data);
      await keys.forget(...erased.map(({ order_id: id }) => id));
      failpoint('order.key_dropped');
      // A key may have a month of responses to search, while the checkpoint waits.
      await tx.query('set local idle_in_transaction_session_timeout = 0; set local transaction_timeout = 0');
      for (const scope of new Set(erased.map(({ key_id: keyId }) => keyId))) {
        const named = erased.filter(({ key_id: keyId }) => keyId === scope).map(({ order_id: id }) => id);
        await responses.drop({ named, scope, since: new Date(0).toISOString() });
      }
      failpoint('order.responses_dropped');
    },
  });
}
