import { isZero } from '../../kernel/decimal.js';
import { publication, type Publication } from '../../platform/context.js';
import type { WebhookDescription } from '../../platform/openapi/document.js';
import { ApiProperty } from '../../platform/dto/field.js';
import { UUID } from '../../platform/dto/rules.js';
import { ORDER_STATUSES, type OrderEventOf, type OrderStatus } from './orders/order-events.js';
import type { PublishedEventType } from './orders/order-events.js';
import { hasEnded } from './orders/order.js';
import { AMOUNT } from './orders/orders.dto.js';

const CAUSES = ['cancelled', 'failed', 'above_maximum', 'late_deposit', 'small_deposits'] as const;
type Cause = (typeof CAUSES)[number];

class OrderData {
  @ApiProperty(UUID) order_id!: string;
  @ApiProperty({ ...UUID, description: 'The public part of the key that created the order.' })
  api_key!: string;
  @ApiProperty({ type: 'string', enum: ORDER_STATUSES, description: 'Right after the event.' })
  status!: OrderStatus;
  @ApiProperty({
    ...AMOUNT,
    description: 'What has to be refunded in all, right after the event: not what this event added.',
  })
  amount_refundable!: string;
}

class OrderCompletedData extends OrderData {
  @ApiProperty({ ...AMOUNT, description: 'What was exchanged.' }) amount_from!: string;
  @ApiProperty({ ...AMOUNT, description: 'What was paid out.' }) amount_to!: string;
  @ApiProperty({ type: 'string' }) withdraw_transaction_hash!: string;
}

class OrderFailedData extends OrderData {
  @ApiProperty({ type: 'string' }) reason!: string;
}

class OrderRefundableData extends OrderData {
  @ApiProperty({ type: 'string', enum: CAUSES, description: 'Why money is refundable now.' }) cause!: Cause;
}

class OrderRefundedData extends OrderData {
  @ApiProperty({ ...AMOUNT, description: 'Of this refund.' }) amount!: string;
  @ApiProperty({ type: 'string', nullable: true, description: 'Null where the provider names none.' })
  refund_transaction_hash!: string | null;
}

const ONLY_LISTED = 'Only to endpoints that list the type.';
const completed = {
  type: 'order.completed',
  when: `An order was exchanged and paid out. ${ONLY_LISTED}`,
  data: OrderCompletedData,
};
const failed = { type: 'order.failed', when: `An order failed. ${ONLY_LISTED}`, data: OrderFailedData };
const refunded = {
  type: 'order.refunded',
  when: `Money of an order was refunded, by the provider or by an operator. ${ONLY_LISTED}`,
  data: OrderRefundedData,
};

/** Publishes the order's state and the members that `more` returns, or nothing if `more` returns null. */
function publish<Type extends PublishedEventType>(
  description: WebhookDescription,
  more: (data: OrderEventOf<Type>['data']) => object | null,
): Publication {
  return publication<OrderEventOf<Type>>(description, (data) => {
    const { at, order_id, key_id: api_key, status, amount_refundable } = data;
    const members = more(data);
    return (
      members && { occurredAt: at, fields: { order_id, api_key, status, amount_refundable, ...members } }
    );
  });
}

/** Returns the publication of a refundable amount. Nothing is sent for 0 or if `isSent` returns false. */
function refundable<Type extends PublishedEventType>(
  cause: Cause,
  isSent: (data: OrderEventOf<Type>['data']) => boolean = () => true,
): Publication {
  const when = `Money of an order has to be refunded. May repeat the same \`amount_refundable\`. ${ONLY_LISTED}`;
  return publish<Type>({ type: 'order.refundable', when, data: OrderRefundableData }, (data) =>
    isZero(data.amount_refundable) || !isSent(data) ? null : { cause },
  );
}

/** The webhooks by order event (contract.md 13.9). Late outcomes change no order and send no webhook. */
export const ORDER_PUBLISHES: Readonly<Record<PublishedEventType, readonly Publication[]>> = {
  'order.cancelled.v1': [refundable('cancelled')],
  'order.processing_started.v1': [
    refundable<'order.processing_started.v1'>('above_maximum', (data) => !isZero(data.refundable)),
  ],
  'order.completed.v1': [
    publish<'order.completed.v1'>(completed, ({ amount_from, amount_to, withdraw_transaction_hash }) => {
      return { amount_from, amount_to, withdraw_transaction_hash };
    }),
  ],
  'order.failed.v1': [publish<'order.failed.v1'>(failed, ({ reason }) => ({ reason })), refundable('failed')],
  'order.refunded.v1': [
    publish<'order.refunded.v1'>(refunded, ({ amount, refund_transaction_hash }) => {
      return { amount, refund_transaction_hash };
    }),
  ],
  'order.late_deposit_recorded.v1': [refundable('late_deposit')],
  // Small deposits of an open order may still be exchanged, so they are published only after its end.
  'order.dust_recorded.v1': [refundable<'order.dust_recorded.v1'>('small_deposits', hasEnded)],
  'order.refund_recorded.v1': [
    publish<'order.refund_recorded.v1'>(refunded, ({ amount, transaction_hash }) => {
      return { amount, refund_transaction_hash: transaction_hash };
    }),
  ],
};
