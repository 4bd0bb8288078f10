import { isDecimal, isZero } from '../../../../kernel/decimal.js';
import { Fault } from '../../../../kernel/fault.js';
import { asciiDigits } from '../../../../kernel/typed-text.js';
import { ApiProperty, Field, Many, ResourceOf, PageOf, type Rule } from '../../../../platform/dto/field.js';
import { oneOf, text, UUID, uuid } from '../../../../platform/dto/rules.js';
import { WriteBody } from '../../../../platform/http/admin/writes.js';
import { Filter, MAX_PAGE, ListParameters } from '../../../../platform/http/list-query.js';
import type { ListedOrder } from '../../domain/order-record.js';
import { readEvmAddress } from '../../domain/addresses.js';
import { ORDER_STATUSES, type OrderStatus } from '../../domain/order-events.js';
import { AMOUNT, Deposit, Order } from '../order-dto.js';
import { nonEmpty } from '../parameters.js';

/** Query of GET /admin/v1/orders. */
export class AdminOrdersQuery extends ListParameters {
  @Filter(uuid, 'Only orders of this merchant.') merchant_id?: string;

  @Filter(uuid, 'Only orders that a key of the exchange created: the id of the credential, or its api_key.')
  credential_id?: string;

  @Filter(
    nonEmpty,
    'Only orders of this user, as the merchant named it: needs the scope users_personal:read.',
  )
  user_id?: string;

  @Filter(oneOf(ORDER_STATUSES), 'Only orders in this status.') status?: OrderStatus;

  @Filter(oneOf(['true', 'false']), 'true: only orders with an amount to refund.')
  refundable?: 'true' | 'false';
}

/** Without the scope users_personal:read, user_id, tag and memo are null. */
class AdminOrder extends Order implements ListedOrder {
  @ApiProperty(UUID) merchant_id!: string;
  @ApiProperty({ ...UUID, description: 'Of the key that created it.' }) api_key!: string;
  @Many(() => Deposit, { description: 'Those that counted.' }) deposits!: Deposit[];
}

export class AdminOrderResponse extends ResourceOf('order', AdminOrder) {}

export class AdminOrdersResponse extends PageOf('orders', AdminOrder, { maxItems: MAX_PAGE }) {}

const refundAmount: Rule = text(AMOUNT, (value) => {
  const amount = asciiDigits(value);
  const isPositive = isDecimal(amount) && !isZero(amount);
  return isPositive ? amount : new Fault('must be a decimal of more than 0, such as 12.5');
});
const transactionHash: Rule = text({ minLength: 1, maxLength: 255 }, (value) => {
  const trimmed = value.trim();
  return trimmed === '' || trimmed.length > 255 ? new Fault('must have 1 to 255 characters') : trimmed;
});
const recipient: Rule = text({ pattern: '^0x[0-9a-fA-F]{40}$' }, (value) => readEvmAddress(value));

/** Body of POST /admin/v1/orders/{id}/refunds. */
export class RecordRefundBody extends WriteBody {
  @Field(refundAmount, { description: 'How much of amount_refundable.' }) amount!: string;
  @Field(transactionHash, { description: 'The transaction of the refund.' }) transaction_hash!: string;

  @Field(recipient, {
    optional: true,
    nullable: true,
    description: 'Who was refunded, unless it is an address that paid the order.',
  })
  recipient?: string | null;
}

export class RefundedOrderResponse extends AdminOrderResponse {
  @ApiProperty(UUID) operation_id!: string;
}
