import { Controller, Get, Patch, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  Cause,
  Inputs,
  ListQuery,
  StoresResponseWithEvents,
  Ticket,
  UuidParam,
} from '../../../platform/http/decorators.js';
import { UpToDate } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { ComplianceNotices } from '../application/compliance-notices.js';
import { CreateOrder } from '../application/create-order.js';
import type { ExchangeCaller } from '../../access/contract.js';
import {
  CancelOrder,
  MarkOrderAsPaid,
  OwnOrders,
  RefreshOrder,
  type OrderAction,
} from '../application/order-actions.js';
import { orderResponse } from '../domain/order-record.js';
import { ORDER_VIEWS } from '../views/order-projection.js';
import { OrdersView } from '../views/orders.js';
import { CalledFrom, CallingKey, type CallerAddress } from './caller.js';
import {
  CreateOrderQuery,
  OrderActionQuery,
  orderFilter,
  OrderResponse,
  OrdersQuery,
  OrdersResponse,
} from './order-dto.js';
import { ProviderBudget } from './provider-budget.js';
import { requireOrderSignature } from './signature.js';

const NOT_FOUND = 'This key has no such order.';

/** contract.md 22. */
@Controller('v1/orders')
export class OrdersController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly notices: ComplianceNotices,
    private readonly budget: ProviderBudget,
    private readonly orders: OwnOrders,
  ) {}

  @Post()
  @StoresResponseWithEvents()
  @ApiRoute({
    id: 'createOrder',
    tag: 'Exchange orders',
    summary: 'Create an order',
    description: 'The quote holds until expires_at. An Idempotency-Key is strongly recommended.',
    responses: {
      201: [OrderResponse, 'The order waits for its deposit.'],
      422: 'A parameter is missing or wrong, or the Idempotency-Key was used for another request.',
    },
  })
  async create(
    @CallingKey() { keyId, merchantId }: ExchangeCaller,
    @CalledFrom() { ip, client, countedAs }: CallerAddress,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
    @Inputs() query: CreateOrderQuery,
  ): Promise<Reply> {
    this.budget.take(keyId, countedAs);
    const notice = this.notices.of(ip);
    const order = {
      key_id: keyId,
      merchant_id: merchantId,
      pair_id: query.pair_id,
      withdraw_address: query.withdraw_address,
      withdraw_address_tag: query.withdraw_address_tag ?? null,
      withdraw_address_memo: query.withdraw_address_memo ?? null,
      user_id: query.user_id ?? null,
      amount_from: null,
      caller_address: ip,
      client,
    };
    const created = await this.commandBus.execute(new CreateOrder(order, notice, ticket, cause));
    return new Reply(201, orderResponse(created, notice));
  }

  @Get(':id')
  @ApiRoute({
    id: 'getOrder',
    tag: 'Exchange orders',
    summary: 'Get an order',
    description:
      'As it was last recorded: it reads nothing from the provider and changes nothing. Signed as the actions are. An extension.',
    responses: { 200: [OrderResponse, 'The order.'], 404: NOT_FOUND },
  })
  async get(
    @CallingKey() caller: ExchangeCaller,
    @CalledFrom() from: CallerAddress,
    @UuidParam('id', 'Order') id: string,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    const { state } = await this.orders.load({
      orderId: id,
      keyId: caller.keyId,
      authorize: authorization(caller, from, query),
    });
    return new Reply(200, orderResponse(state, this.notices.of(from.ip)));
  }

  @Patch(':id/refresh')
  @ApiRoute({
    id: 'refreshOrder',
    tag: 'Exchange orders',
    summary: 'Refresh an order',
    description: 'Reads its state from the provider.',
    responses: { 200: [OrderResponse, 'The order as it is now.'], 404: NOT_FOUND },
  })
  async refresh(
    @CallingKey() caller: ExchangeCaller,
    @CalledFrom() from: CallerAddress,
    @UuidParam('id', 'Order') id: string,
    @Cause() cause: EventMetadata,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    this.budget.take(caller.keyId, from.countedAs);
    const command = new RefreshOrder(id, caller.keyId, cause, authorization(caller, from, query));
    return new Reply(200, orderResponse(await this.commandBus.execute(command), this.notices.of(from.ip)));
  }

  @Patch(':id/cancel')
  @StoresResponseWithEvents()
  @ApiRoute({
    id: 'cancelOrder',
    tag: 'Exchange orders',
    summary: 'Cancel an order',
    responses: {
      200: [OrderResponse, 'The order is cancelled.'],
      404: NOT_FOUND,
      409: 'It is not pending any more, or a request with this Idempotency-Key is in progress.',
    },
  })
  cancel(
    @CallingKey() caller: ExchangeCaller,
    @CalledFrom() from: CallerAddress,
    @UuidParam('id', 'Order') id: string,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    this.budget.take(caller.keyId, from.countedAs);
    return this.act(CancelOrder, caller, from, { orderId: id, ticket, cause }, query);
  }

  @Patch(':id/mark_as_paid')
  @StoresResponseWithEvents()
  @ApiRoute({
    id: 'markOrderAsPaid',
    tag: 'Exchange orders',
    summary: 'Mark an order as paid',
    description: 'The deposit is on its way: the order waits longer for it.',
    responses: {
      200: [OrderResponse, 'The order is paid.'],
      404: NOT_FOUND,
      409: 'It is neither pending nor paid, or a request with this Idempotency-Key is in progress.',
    },
  })
  markAsPaid(
    @CallingKey() caller: ExchangeCaller,
    @CalledFrom() from: CallerAddress,
    @UuidParam('id', 'Order') id: string,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    return this.act(MarkOrderAsPaid, caller, from, { orderId: id, ticket, cause }, query);
  }

  private async act(
    Action: typeof CancelOrder | typeof MarkOrderAsPaid,
    caller: ExchangeCaller,
    from: CallerAddress,
    requested: Pick<OrderAction, 'orderId' | 'ticket' | 'cause'>,
    query: OrderActionQuery,
  ): Promise<Reply> {
    const complianceNotice = this.notices.of(from.ip);
    const own = { keyId: caller.keyId, authorize: authorization(caller, from, query) };
    const order = await this.commandBus.execute(new Action({ ...requested, ...own, complianceNotice }));
    return new Reply(200, orderResponse(order, complianceNotice));
  }
}

function authorization(
  caller: ExchangeCaller,
  from: CallerAddress,
  { signature }: OrderActionQuery,
): OrderAction['authorize'] {
  return ({ facts }) => from.signedBy(requireOrderSignature(caller, signature, facts.withdraw_address));
}

/** contract.md 24. */
@Controller('v1/merchant/orders')
export class MerchantOrdersController {
  constructor(private readonly orders: OrdersView) {}

  @Get()
  @ApiRoute({
    id: 'listOrders',
    tag: 'Exchange orders',
    summary: 'List orders, newest first',
    description: 'The orders of this key. X-Signature is over `withdraw_address=` with nothing after it.',
    responses: {
      200: [OrdersResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'A parameter is missing, wrong, unknown or repeated; detail names it.',
    },
  })
  @UpToDate(ORDER_VIEWS)
  async list(@CallingKey() { keyId }: ExchangeCaller, @ListQuery() query: OrdersQuery): Promise<Reply> {
    return new Reply(200, await this.orders.page(keyId, orderFilter(query)));
  }
}
