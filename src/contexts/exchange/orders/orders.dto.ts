import { DAY_MS } from '../../../kernel/clock.js';
import { isDecimal, isZero } from '../../../kernel/decimal.js';
import { Fault } from '../../../kernel/fault.js';
import { asciiDigits } from '../../../kernel/typed-text.js';
import { datePoint, type DatePoint, quoted } from '../../../platform/dto/date-point.js';
import {
  ApiProperty,
  Field,
  Many,
  Nested,
  PageOf,
  ResourceOf,
  type Rule,
  type Schema,
} from '../../../platform/dto/field.js';
import { COUNT, nullable, oneOf, TEXT, text, TIME, UUID, uuid } from '../../../platform/dto/rules.js';
import { WriteBody } from '../../../platform/http/admin/writes.js';
import { Filter, ListParameters, MAX_PAGE, PageCursor, PageSize } from '../../../platform/http/list-query.js';
import { throwBadRequest } from '../../../platform/http/decorators.js';
import { ORDER_STATUSES, type OrderStatus } from './order-events.js';
import { readEvmAddress, readAddress, readTag } from './addresses.js';
import type { OrderJson, OrderRecord } from './order-record.js';
import { PAIRS, PAID_OUT } from '../tokens/catalog.js';
import type { OrderFilter } from './orders.view.js';

/** A free text: 1 to 255 code points once trimmed, no control characters (contract.md 22.2). */
export const nonEmpty: Rule = text({ minLength: 1, maxLength: 255 }, (value) =>
  value.trim() === '' ? new Fault('must not be empty') : readTag(value.trim()),
);

export const tagOrMemo: Rule = text({ maxLength: 255 }, (value) =>
  value === '' ? undefined : readTag(value),
);

const WALLET = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
export const withdrawAddress: Rule = text({ examples: [WALLET] }, readAddress);

/** The signature over the address. The guard or the command verifies it. */
export const signature = text({
  pattern: '^[0-9a-f]{64}$',
  description: 'Required when the key demands signatures; see above.',
});

/** The signature over all other parameters of the query (contract.md 21.8), which the guard has verified. */
export const querySignature = text({
  pattern: '^[0-9a-f]{64}$',
  description: 'Over the whole query. Keys issued for it require it with a tag or memo.',
});

/** The URL to which the pay page returns. `readReturnUrl` validates it. */
export const returnUrl: Rule = text({ format: 'uri', maxLength: 2048 }, (value) =>
  value === '' ? undefined : value,
);

/** Returns the rule that accepts one of the codes in any letter case. */
export function code(codes: readonly string[]): Rule {
  const known = new Map(codes.map((each) => [each.toLowerCase(), each]));
  return text({ enum: [...codes] }, (value) => {
    const found = known.get(value.toLowerCase());
    return found ?? new Fault(`must be one of ${codes.join(', ')}, not ${quoted(value)}`);
  });
}

/** The rules for the only token and chain of payouts. Parameters may omit the chain. */
export const [tokenTo, chainTo] = [code([PAID_OUT.token]), code([PAID_OUT.chain])];

export const AMOUNT: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?$', examples: ['100.5'] };

const NULLABLE = nullable(TEXT);
export const NOTICE = nullable(TEXT, "A notice for the caller's country.");

/** The rule for pair ids: a pair of the catalogue, which the provider may still refuse. */
const pair: Rule = { ...code(PAIRS.map(({ id }) => id)), schema: { type: 'string', examples: ['USDCSOL'] } };

export class CreateOrderQuery {
  @Field(pair, { description: 'As GET /v1/tokens lists it.' }) pair_id!: string;
  @Field(withdrawAddress, { description: 'Where the exchanged funds go.' }) withdraw_address!: string;
  @Field(tagOrMemo, { optional: true }) withdraw_address_tag?: string;
  @Field(tagOrMemo, { optional: true }) withdraw_address_memo?: string;

  @Filter(nonEmpty, 'Whose order it is; the caller by address when it is left out.') user_id?: string;

  @Field(signature, { optional: true }) signature?: string;
  @Field(querySignature, { optional: true }) signature_v2?: string;
}

export class OrderActionQuery {
  @Field(signature, { optional: true }) signature?: string;
}

class Deposit {
  @ApiProperty(AMOUNT) amount!: string;
  @ApiProperty(TEXT) transaction_hash!: string;
  @ApiProperty(TIME) deposited_at!: string;
}

class Refund {
  @ApiProperty(AMOUNT) amount!: string;
  @ApiProperty(TEXT) transaction_hash!: string;
  @ApiProperty(TIME) recorded_at!: string;
}

/** The Order resource (contract.md 22.3). */
class Order implements OrderRecord {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(TEXT) pair_id!: string;
  @ApiProperty({ ...TEXT, enum: ORDER_STATUSES }) status!: OrderStatus;
  @ApiProperty(nullable(TEXT, 'Why the order failed; null otherwise.')) reason!: string | null;
  @ApiProperty(TEXT) withdraw_address!: string;
  @ApiProperty(NULLABLE) withdraw_address_tag!: string | null;
  @ApiProperty(NULLABLE) withdraw_address_memo!: string | null;
  @ApiProperty(NULLABLE) user_id!: string | null;
  @ApiProperty({ ...TEXT, description: 'Where the deposit goes.' }) deposit_address!: string;
  @ApiProperty(NULLABLE) deposit_address_tag!: string | null;

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

  @ApiProperty(nullable(TEXT, 'Of the newest deposit that counted.'))
  deposit_transaction_hash!: string | null;

  @ApiProperty(NULLABLE) withdraw_transaction_hash!: string | null;
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
    ...NULLABLE,
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
  @ApiProperty(NOTICE) compliance_notice!: string | null;
}

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
  @ApiProperty(NULLABLE) next_cursor!: string | null;
}

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

/** An order for operators. Without the scope users_personal:read, user_id, tag and memo are null. */
class AdminOrder extends Order implements OrderJson {
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
const recipient: Rule = text({ pattern: '^0x[0-9a-fA-F]{40}$' }, (value) => readEvmAddress(value));

export class RecordRefundBody extends WriteBody {
  @Field(refundAmount, { description: 'How much of amount_refundable.' }) amount!: string;
  @Field(nonEmpty, { description: 'The transaction of the refund.' }) transaction_hash!: string;

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
