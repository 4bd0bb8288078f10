import { Controller, Get, Patch, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  Cause,
  Inputs,
  ListQuery,
  MerchantId,
  StoresResponseWithEvents,
  Ticket,
  UuidParam,
} from '../../../platform/http/decorators.js';
import { Visit } from '../../../platform/http/pages/page.js';
import { UpToDate } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { ComplianceNotices } from './compliance-notices.service.js';
import { ActOnOrder, CreateOrder, EndSandboxOrder, OwnOrders } from './orders.commands.js';
import type { ExistingOrder } from './order.js';
import { orderResponse } from './order-record.js';
import { ORDER_VIEWS, OrdersView } from './orders.view.js';
import { type ExchangeVisit, ProviderBudget } from './exchange-key.guard.js';
import {
  CreateOrderQuery,
  OrderActionQuery,
  orderFilter,
  OrderResponse,
  OrdersQuery,
  OrdersResponse,
} from './orders.dto.js';
import { requireOrderSignature } from './order-signature.guard.js';

const NOT_FOUND = 'This key has no such order.';

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
    @Visit() { key, countedAs, client, ip, cause }: ExchangeVisit,
    @Ticket() ticket: IdempotencyTicket,
    @Inputs() query: CreateOrderQuery,
  ): Promise<Reply> {
    this.budget.take(key.keyId, countedAs);
    const notice = this.notices.of(ip);
    const order = {
      key_id: key.keyId,
      merchant_id: key.merchantId,
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
    @Visit() visit: ExchangeVisit,
    @UuidParam('id', 'Order') orderId: string,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    const state = await this.orders.load(ownOrder(orderId, visit, query));
    return new Reply(200, orderResponse(state, this.notices.of(visit.ip)));
  }

  @Patch(':id/refresh')
  @ApiRoute({
    id: 'refreshOrder',
    tag: 'Exchange orders',
    summary: 'Refresh an order',
    description: 'Reads its state from the provider.',
    responses: { 200: [OrderResponse, 'The order as it is now.'], 404: NOT_FOUND },
  })
  refresh(
    @Visit() visit: ExchangeVisit,
    @UuidParam('id', 'Order') orderId: string,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    return this.act('refresh', orderId, visit, query);
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
    @Visit() visit: ExchangeVisit,
    @UuidParam('id', 'Order') orderId: string,
    @Ticket() ticket: IdempotencyTicket,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    return this.act('cancel', orderId, visit, query, ticket);
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
    @Visit() visit: ExchangeVisit,
    @UuidParam('id', 'Order') orderId: string,
    @Ticket() ticket: IdempotencyTicket,
    @Inputs() query: OrderActionQuery,
  ): Promise<Reply> {
    return this.act('mark_as_paid', orderId, visit, query, ticket);
  }

  private async act(
    kind: ActOnOrder['kind'],
    orderId: string,
    visit: ExchangeVisit,
    query: OrderActionQuery,
    ticket?: IdempotencyTicket,
  ): Promise<Reply> {
    const { key, countedAs, ip, cause } = visit;
    if (kind !== 'mark_as_paid') this.budget.take(key.keyId, countedAs);
    const notice = this.notices.of(ip);
    const command = new ActOnOrder(kind, ownOrder(orderId, visit, query), cause, notice, ticket);
    return new Reply(200, orderResponse(await this.commandBus.execute(command), notice));
  }
}

function ownOrder(orderId: string, { key, signedBy }: ExchangeVisit, { signature }: OrderActionQuery) {
  const authorize = (found: ExistingOrder): void =>
    signedBy(requireOrderSignature(key, signature, found.withdraw_address));
  return { orderId, keyId: key.keyId, authorize };
}

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
  async list(@Visit() { key }: ExchangeVisit, @ListQuery() query: OrdersQuery): Promise<Reply> {
    return new Reply(200, await this.orders.page(key.keyId, orderFilter(query)));
  }
}

const SANDBOX_ONLY = 'Signed as all calls of the merchant API. Only in the sandbox.';

@Controller('merchants/v1/sandbox/orders')
export class SandboxOrdersController {
  constructor(private readonly commandBus: CommandBus) {}

  @Post(':id/fail')
  @ApiRoute({
    id: 'failSandboxOrder',
    tag: 'Sandbox',
    summary: 'Fail an order',
    description: `An order of any key of the merchant fails, as if its provider could not exchange it: what was received is refundable. ${SANDBOX_ONLY}`,
    responses: {
      200: [OrderResponse, 'The order has failed.'],
      404: 'The merchant has no such order.',
      409: 'The order is processing, has ended otherwise, or is at another provider.',
    },
  })
  fail(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Order') id: string,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    return this.end(new EndSandboxOrder(merchantId, id, 'failed', cause));
  }

  @Post(':id/refund')
  @ApiRoute({
    id: 'refundSandboxOrder',
    tag: 'Sandbox',
    summary: 'Refund an order',
    description: `An order of any key of the merchant that received less than its amount is refunded, as if its provider had sent that back; no money moves, and the hash is no transaction. ${SANDBOX_ONLY}`,
    responses: {
      200: [OrderResponse, 'The order is refunded.'],
      404: 'The merchant has no such order.',
      409: 'The order has received nothing, is processing, has ended otherwise, or is at another provider.',
    },
  })
  refund(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Order') id: string,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    return this.end(new EndSandboxOrder(merchantId, id, 'refunded', cause));
  }

  private async end(command: EndSandboxOrder): Promise<Reply> {
    return new Reply(200, orderResponse(await this.commandBus.execute(command), null));
  }
}
