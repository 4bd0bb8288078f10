import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import type { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata, StoredResponse } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { made, order, type MadeOrder, type Order } from '../domain/order.js';
import { orderResponse } from '../domain/order-record.js';

/** A merchant acts on an order. */
export interface OrderAction {
  readonly orderId: string;
  readonly keyId: string;
  /** Throws unless the request may act on an order that pays out to this address (contract.md 21.4). */
  readonly authorize?: ((withdrawAddress: string) => void) | undefined;
  /** Goes into the response that is stored: {@link orderResponse}. */
  readonly complianceNotice: string | null;
  readonly ticket: IdempotencyTicket;
  readonly cause: EventMetadata;
}

/** The order, for the key that made it alone (contract.md 22.6). Throws `not_found`, and what `authorize` throws. */
export async function ownOrder(
  loop: CommandLoop,
  { orderId, keyId, authorize }: Pick<OrderAction, 'orderId' | 'keyId' | 'authorize'>,
): Promise<MadeOrder> {
  if (!isUuid(orderId)) throw DomainError.notFound('Order');
  const { state } = await loop.load(order, orderId.toLowerCase());
  if (made(state).facts.key_id !== keyId) throw DomainError.notFound('Order');
  authorize?.(made(state).facts.withdraw_address);
  return made(state);
}

/** The response that travels with the events of an action. */
export function actionResponse({ ticket, complianceNotice }: OrderAction) {
  return (after: Order): StoredResponse | undefined =>
    ticket.response(200, orderResponse(made(after), complianceNotice), { holdsSecret: true });
}
