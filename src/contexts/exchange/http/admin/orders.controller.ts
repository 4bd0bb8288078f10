import { Get, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { streamOf } from '../../../../kernel/aggregate.js';
import {
  AdminController,
  Caller,
  merchantsOf,
  reachOf,
  requireReach,
  sendEtag,
  WriteTo,
  type AdminCaller,
  type SubjectWrite,
} from '../../../../platform/http/admin/admin-controller.js';
import { RecordRefund } from '../../application/record-refund.js';
import { OperationResponse } from '../../../../platform/operations/displayed-operation.js';
import { requireScopes } from '../../../../platform/http/admin/scoped-controller.js';
import { writeOf, written } from '../../../../platform/http/admin/writes.js';
import { ListQuery, UuidParam, ValidBody } from '../../../../platform/http/decorators.js';
import type { Reply } from '../../../../platform/http/reply.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { OperatorLookups } from '../../../../platform/operations/operator-lookups.js';
import { Operations } from '../../../../platform/operations/operations.js';
import { SubscriptionProgress } from '../../../../platform/projections/subscription-progress.js';
import { CredentialIndex } from '../../../access/contract.js';
import { OrderDetails } from '../../views/order-details.js';
import type { ListedOrder } from '../../domain/listed-order.js';
import { order } from '../../domain/order.js';
import { ORDER_VIEWS } from '../../views/order-projection.js';
import { HIDDEN_PERSON, OrdersList } from '../../views/orders-list.js';
import {
  AdminOrderResponse,
  AdminOrdersQuery,
  AdminOrdersResponse,
  RecordRefundBody,
  RefundedOrderResponse,
} from './orders-dto.js';

const TAG = 'Admin: orders';
const PERSONAL = 'users_personal:read';
const NOT_FOUND = 'There is no such order within reach of the key.';

/** admin-api.md 3: orders of all merchants, and the refunds that operators record. */
@AdminController('orders')
export class AdminOrdersController {
  constructor(
    private readonly orders: OrdersList,
    private readonly details: OrderDetails,
    private readonly directory: CredentialIndex,
    private readonly operations: Operations,
    private readonly lookups: OperatorLookups,
    private readonly progress: SubscriptionProgress,
  ) {}

  @Get()
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
  async list(
    @Caller() caller: AdminCaller,
    @ListQuery() query: AdminOrdersQuery,
  ): Promise<AdminOrdersResponse> {
    const { user_id: userId, credential_id: credentialId } = query;
    if (userId !== undefined) requireScopes(caller, [PERSONAL]);
    const merchants = reachOf(caller, query.merchant_id);
    await this.progress.waitUntilCurrent(ORDER_VIEWS);
    const { orders, next_cursor } = await this.orders.page({
      merchants,
      filter: {
        keyId: credentialId === undefined ? undefined : await this.directory.exchangeKeyOf(credentialId),
        userId,
        status: query.status,
        isRefundable: query.refundable === 'true',
      },
      page: query.page,
      withPersonal: caller.scopes.has(PERSONAL),
    });
    await this.lookups.record(caller, merchantsOf(query.merchant_id, orders), 'orders');
    return { orders: orders.map(displayed), next_cursor };
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetOrder',
    tag: TAG,
    summary: 'Get an order',
    scopes: ['orders:read'],
    responses: { 200: [AdminOrderResponse, 'The order; ETag is its revision.'], 404: NOT_FOUND },
  })
  async get(
    @Caller() caller: AdminCaller,
    @UuidParam('id', 'Order') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AdminOrderResponse> {
    // Before the order is read: a change in between makes the ETag too old, and not the order.
    const revision = await this.operations.revisionOf([streamOf(order, id)]);
    const found = await this.within(caller, id);
    await this.lookups.record(caller, [found.merchant_id], `order ${id}`);
    sendEtag(reply, revision);
    return { order: displayed(withoutPerson(found, caller)) };
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
    const { merchant_id: merchantId } = await this.within(requester, subject.id);
    const command = new RecordRefund(subject.id, { amount, transaction_hash, recipient });
    const outcome = await this.operations.request(command, { ...writeOf(write, body), merchantId });
    return written(outcome, 201, async () => ({
      order: withoutPerson(await this.details.get(subject.id), requester),
    }));
  }

  /** Throws `not_found`. */
  private async within(caller: AdminCaller, id: string): Promise<ListedOrder> {
    const found = await this.details.get(id);
    requireReach(caller, found.merchant_id, 'Order');
    return found;
  }
}

function withoutPerson(found: ListedOrder, { scopes }: Pick<AdminCaller, 'scopes'>): ListedOrder {
  return scopes.has(PERSONAL) ? found : { ...found, ...HIDDEN_PERSON };
}

function displayed(found: ListedOrder) {
  return { ...found, deposits: [...found.deposits], refunds: [...found.refunds] };
}
