import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { streamOf } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../platform/failpoints.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { ResponseStore } from '../../../platform/idempotency/response-store.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import type { OrderPersonalDataErased } from '../domain/order-events.js';
import { eraseOrder, existingOrder, order } from '../domain/order.js';
import { OrdersView } from '../views/orders.js';

/** The facts of every operation on an order. */
export const ORDER = {
  scope: 'orders:write',
  subject: 'order',
  streams: (id: string) => (isUuid(id) ? [streamOf(order, id)] : []),
} as const;

export interface ErasedOrders {
  readonly erased: readonly string[];
  /** Orders that have not ended are left out. */
  readonly not_ended: readonly string[];
  /** The position to wait for; null where nothing was written. */
  readonly position: string | null;
}

/**
 * Erases who orders were for (contract.md 23.7). The subject is one order, by its id, or all orders of a user: then it is
 * the keyed hash of the user (`OrdersView.userHash`), and `api_key` the key that created them. Throws `not_found`, or
 * `invalid_transition` for one order that has not ended.
 */
@Operation({ ...ORDER, name: 'orders.erase_user', secondPerson: 'before' })
export class EraseOrderUser extends OperatorCommand<{ readonly api_key: string | null }, ErasedOrders> {}

@CommandHandler(EraseOrderUser)
export class EraseOrderUserHandler implements OperationHandler<EraseOrderUser> {
  constructor(
    private readonly loop: CommandLoop,
    private readonly orders: OrdersView,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async check({ subjectId: id }: EraseOrderUser): Promise<void> {
    if (!isUuid(id)) return;
    const { state } = await this.loop.load(order, id);
    eraseOrder({ actor: '', at: timestamp(this.clock) }, existingOrder(state));
  }

  async execute({ subjectId, operation, parameters }: EraseOrderUser): Promise<ErasedOrders> {
    const { actor } = operation!;
    if (isUuid(subjectId))
      return { erased: [subjectId], not_ended: [], position: await this.erase(subjectId, actor) };
    const erased: string[] = [];
    const notEnded: string[] = [];
    let position: string | null = null;
    for (const id of await this.orders.ofUserHash(parameters.api_key!, subjectId))
      try {
        position = (await this.erase(id, actor)) ?? position;
        erased.push(id);
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'invalid_transition')) throw error;
        notEnded.push(id);
      }
    return { erased, not_ended: notEnded, position };
  }

  private async erase(orderId: string, actor: string): Promise<string | null> {
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
  responses: Pick<ResponseStore, 'drop'>,
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
