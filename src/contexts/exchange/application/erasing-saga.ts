import type { Get } from '../../../platform/context.js';
import { failpoint } from '../../../platform/failpoints.js';
import { PersonalResponses } from '../../../platform/idempotency/personal-responses.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import type { OrderPersonalDataErased } from '../domain/order-events.js';

export const ERASING_ORDERS = subscriptionName('exchange.erasing');

/** Drops the keys of orders that are erased, and the stored responses that display them; after a crash once more. */
export function erasingOrders(get: Get): SubscriptionDefinition {
  return {
    name: ERASING_ORDERS,
    events: ['order.personal_data_erased.v1'],
    async apply(events, tx) {
      const erased = events.map(({ data }) => data as unknown as OrderPersonalDataErased['data']);
      await get(PersonalKeys).forget(...erased.map(({ order_id: id }) => id));
      failpoint('order.key_dropped');
      // A key may have a month of responses to search, while the checkpoint waits.
      await tx.query('set local idle_in_transaction_session_timeout = 0; set local transaction_timeout = 0');
      for (const scope of new Set(erased.map(({ key_id: keyId }) => keyId))) {
        const named = erased.filter(({ key_id: keyId }) => keyId === scope).map(({ order_id: id }) => id);
        await get(PersonalResponses).drop({ named, scope, since: new Date(0).toISOString() });
      }
      failpoint('order.responses_dropped');
    },
  };
}
