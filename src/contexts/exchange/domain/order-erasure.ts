import { DomainError } from '../../../kernel/domain-error.js';
import type { OrderEvent, OrderFacts } from './order-events.js';
import type { MadeOrder } from './order.js';

/** The facts of an order whose personal data is erased. */
export function withoutPerson(facts: OrderFacts): OrderFacts {
  return {
    ...facts,
    user_id: null,
    user_hash: null,
    withdraw_address_tag: null,
    withdraw_address_memo: null,
  };
}

/** An operator erases who an order was for. Throws `invalid_transition` before the order has ended; a repeat changes nothing. */
export function eraseOrder(
  { actor, at }: { readonly actor: string; readonly at: string },
  { status, facts, isErased }: MadeOrder,
): OrderEvent[] {
  if (isErased) return [];
  if (status === 'pending' || status === 'paid' || status === 'processing')
    throw new DomainError(
      'invalid_transition',
      `The order is ${status}: its personal data can be erased once it has ended`,
    );
  const { order_id, key_id } = facts;
  return [{ type: 'order.personal_data_erased.v1', data: { order_id, key_id, actor, at } }];
}
