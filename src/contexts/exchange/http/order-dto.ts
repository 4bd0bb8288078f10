import { DAY_MS } from '../../../kernel/clock.js';
import { datePoint, type DatePoint } from '../../../platform/dto/date-point.js';
import { ApiProperty, Field, Many, Nested, type Rule, type Schema } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import { Filter, MAX_PAGE, PageCursor, PageSize } from '../../../platform/http/list-query.js';
import { throwBadRequest } from '../../../platform/http/decorators.js';
import { ORDER_STATUSES, type OrderStatus } from '../domain/order-events.js';
import type { OrderRecord } from '../domain/order-record.js';
import { PAIRS } from '../domain/catalog.js';
import type { OrderFilter } from '../views/orders.js';
import { code, nonEmpty, querySignature, signature, tagOrMemo, withdrawAddress } from './parameters.js';

export const AMOUNT: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?$', examples: ['100.5'] };

/** Whether the provider can do it is another question. */
const pair: Rule = { ...code(PAIRS.map(({ id }) => id)), schema: { type: 'string', examples: ['USDCSOL'] } };

/** Query of POST /v1/orders. */
export class CreateOrderQuery {
  @Field(pair, { description: 'As GET /v1/tokens lists it.' }) pair_id!: string;
  @Field(withdrawAddress, { description: 'Where the exchanged funds go.' }) withdraw_address!: string;
  @Field(tagOrMemo, { optional: true }) withdraw_address_tag?: string;
  @Field(tagOrMemo, { optional: true }) withdraw_address_memo?: string;

  @Field(nonEmpty, {
    optional: true,
    description: 'Whose order it is; the caller by address when it is left out.',
  })
  user_id?: string;

  @Field(signature, { optional: true }) signature?: string;
  @Field(querySignature, { optional: true }) signature_v2?: string;
}

/** Query of the actions on an order. */
export class OrderActionQuery {
  @Field(signature, { optional: true }) signature?: string;
}

export class Deposit {
  @ApiProperty(AMOUNT) amount!: string;
  @ApiProperty({ type: 'string' }) transaction_hash!: string;
  @ApiProperty(TIME) deposited_at!: string;
}

/** A refund that an operator recorded. */
class Refund {
  @ApiProperty(AMOUNT) amount!: string;
  @ApiProperty({ type: 'string' }) transaction_hash!: string;
  @ApiProperty(TIME) recorded_at!: string;
}

/** contract.md 22.3. */
export class Order implements OrderRecord {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) pair_id!: string;
  @ApiProperty({ type: 'string', enum: ORDER_STATUSES }) status!: OrderStatus;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the order failed; null otherwise.' })
  reason!: string | null;

  @ApiProperty({ type: 'string' }) withdraw_address!: string;
  @ApiProperty({ type: 'string', nullable: true }) withdraw_address_tag!: string | null;
  @ApiProperty({ type: 'string', nullable: true }) withdraw_address_memo!: string | null;
  @ApiProperty({ type: 'string', nullable: true }) user_id!: string | null;
  @ApiProperty({ type: 'string', description: 'Where the deposit goes.' }) deposit_address!: string;
  @ApiProperty({ type: 'string', nullable: true }) deposit_address_tag!: string | null;

  @ApiProperty({
    ...AMOUNT,
    description: 'The amount requested; once enough has arrived, the amount exchanged.',
  })
  amount_from!: string;

  @ApiProperty(AMOUNT) amount_to!: string;
  @ApiProperty(AMOUNT) amount_received!: string;

  @ApiProperty({
    ...AMOUNT,
    description:
      'What has to be refunded, late deposits included; less once the operator has recorded a refund.',
  })
  amount_refundable!: string;

  @ApiProperty({ ...AMOUNT, description: 'amount_to for one of amount_from, fees included.' }) rate!: string;
  @ApiProperty({ ...AMOUNT, description: 'Of amount_from.' }) minimum!: string;
  @ApiProperty({ ...AMOUNT, description: 'Of amount_from.' }) maximum!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Of the newest deposit that counted.' })
  deposit_transaction_hash!: string | null;

  @ApiProperty({ type: 'string', nullable: true }) withdraw_transaction_hash!: string | null;
  @Many(() => Deposit, { description: 'Never exchanged on their own.' }) late_deposits!: Deposit[];

  @ApiProperty({
    ...TIME,
    nullable: true,
    description:
      'Until when an order that was marked as paid waits for its deposit; null unless it was marked.',
  })
  waits_until!: string | null;

  @Many(() => Refund, { description: 'What the operator sent back, oldest first.' })
  refunds!: readonly Refund[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Of the refund that the provider sent itself: the whole of amount_received, of a refunded order.',
  })
  refund_transaction_hash!: string | null;

  @ApiProperty(TIME) created_at!: string;
  @ApiProperty(TIME) updated_at!: string;
  @ApiProperty(TIME) expires_at!: string;
}

export class OrderResponse {
  @Nested(() => Order) order!: Order;

  @ApiProperty({ type: 'string', nullable: true, description: "A notice for the caller's country." })
  compliance_notice!: string | null;
}

/** Query of GET /v1/merchant/orders (contract.md 24). */
export class OrdersQuery {
  @Field(datePoint, { description: 'The first day in UTC, or the first instant.' }) start_date!: DatePoint;

  @Field(datePoint, {
    description: 'The last day in UTC, or the last instant; inclusive, at most 92 days later.',
  })
  end_date!: DatePoint;

  @Filter(nonEmpty, 'Only orders of this user.') user_id?: string;
  @Filter(code(ORDER_STATUSES), 'Only orders in this status.') status?: OrderStatus;

  @Filter(withdrawAddress, 'Only orders that pay out to this address. X-Signature does not cover it.')
  withdraw_address?: string;

  @PageSize(MAX_PAGE, 'Orders per page.') page_size!: number;
  @PageCursor() page_cursor?: OrderFilter['page_cursor'];
}

const MAX_DAYS = 92;

/** Throws DomainError `bad_request` for a range that is none or too long. */
export function orderFilter(query: OrdersQuery): OrderFilter {
  const { start_date: start, end_date: end } = query;
  if (end.end <= start.at) throwBadRequest('end_date', 'must not lie before start_date');
  if (end.at.getTime() - start.at.getTime() > MAX_DAYS * DAY_MS)
    throwBadRequest('end_date', `must lie at most ${MAX_DAYS} days after start_date`);
  return { ...query, from: start.at, until: end.end };
}

export class OrdersResponse {
  @ApiProperty({ ...COUNT, description: 'Orders that match, on all pages.' }) total_count!: number;
  @Many(() => Order, { maxItems: MAX_PAGE }) orders!: Order[];
  @ApiProperty({ type: 'string', nullable: true }) next_cursor!: string | null;
}
