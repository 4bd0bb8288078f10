import { Get, Post } from '@nestjs/common';
import { toStream } from '../../../kernel/aggregate.js';
import {
  AdminController,
  Caller,
  WriteTo,
  type AdminCaller,
  type SubjectWrite,
} from '../../../platform/http/admin/admin.guard.js';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import { RecordRefund } from './order-operations.commands.js';
import { OperationResponse } from '../../../platform/operations/displayed-operation.js';
import { toWrite, written } from '../../../platform/http/admin/writes.js';
import { ListQuery, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import { Reach, Reads } from '../../../platform/http/reads.js';
import type { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { Operations } from '../../../platform/operations/operations.js';
import { requireReach, requireScopes } from '../../../platform/operations/scopes.js';
import { CredentialIndex } from '../../access/access.contract.js';
import { order } from './order.js';
import { ORDER_VIEWS, OrdersView } from './orders.view.js';
import {
  AdminOrderResponse,
  AdminOrdersQuery,
  AdminOrdersResponse,
  RecordRefundBody,
  RefundedOrderResponse,
} from './orders.dto.js';

const TAG = 'Admin: orders';
const PERSONAL = 'users_personal:read';
const NOT_FOUND = 'There is no such order within reach of the key.';

const PORTAL = 'orders:read';

/** Lists orders and records refunds (admin-api.md 3). The portal lists the orders of one merchant only. */
@AdminController('orders')
export class AdminOrdersController {
  constructor(
    private readonly orders: OrdersView,
    private readonly directory: CredentialIndex,
    private readonly operations: Operations,
  ) {}

  @Get()
  @PortalRoute('orders', PORTAL)
  @ApiRoute({
    id: 'adminListOrders',
    tag: TAG,
    summary: 'List orders, newest first',
    scopes: ['orders:read'],
    responses: {
      200: [AdminOrdersResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'A filter, page_size or page_cursor is invalid, or unknown; detail names it.',
      403: 'The scope orders:read is missing, or with user_id the scope users_personal:read.',
      404: 'The merchant of merchant_id is not within reach of the key.',
    },
  })
  @Reads({ view: ORDER_VIEWS, mayBeLate: true, lookup: 'orders' })
  async list(
    @Caller() caller: Pick<AdminCaller, 'scopes'>,
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: AdminOrdersQuery,
  ): Promise<AdminOrdersResponse> {
    const { user_id, credential_id } = query;
    if (user_id !== undefined) requireScopes(caller, [PERSONAL]);
    const key_id = credential_id && (await this.directory.findExchangeKey(credential_id));
    return this.orders.rows(merchants, { ...query, key_id }, caller.scopes.has(PERSONAL));
  }

  @Get(':id')
  @PortalRoute('orders/:id', PORTAL)
  @ApiRoute({
    id: 'adminGetOrder',
    tag: TAG,
    summary: 'Get an order',
    scopes: ['orders:read'],
    responses: { 200: [AdminOrderResponse, 'The order; ETag is its revision.'], 404: NOT_FOUND },
  })
  @Reads({ view: null, lookup: 'order', etag: (id) => [toStream(order, id)] })
  async get(
    @Caller() caller: Pick<AdminCaller, 'scopes'>,
    @UuidParam('id', 'Order') id: string,
  ): Promise<AdminOrderResponse> {
    return { order: await this.orders.get(id, caller.scopes.has(PERSONAL)) };
  }

  @Post(':id/refunds')
  @ApiRoute({
    id: 'adminRecordRefund',
    tag: TAG,
    summary: 'Record a refund that was sent',
    description: 'A second person approves it. Whether the chain has the transfer is checked then.',
    scopes: ['orders:write'],
    responses: {
      201: [RefundedOrderResponse, 'Recorded at once: approvals are off.'],
      202: [OperationResponse, 'A second person is awaited.'],
      404: NOT_FOUND,
      409: 'More than is refundable, or the transaction is another refund.',
      412: 'If-Match is another revision of the order.',
      422: 'A field is missing or wrong.',
      428: 'If-Match is missing.',
    },
  })
  async refund(
    @WriteTo('Order') write: SubjectWrite,
    @ValidBody() { amount, transaction_hash, recipient = null, ...body }: RecordRefundBody,
  ): Promise<Reply> {
    const { requester, subject } = write;
    const { merchant_id: merchantId } = await this.orders.get(subject.id, false);
    requireReach(requester, merchantId, 'Order');
    const command = new RecordRefund(subject.id, { amount, transaction_hash, recipient });
    const outcome = await this.operations.request(command, toWrite(write, body, merchantId));
    return written(outcome, 201, async () => ({
      order: await this.orders.get(subject.id, requester.scopes.has(PERSONAL)),
    }));
  }
}
