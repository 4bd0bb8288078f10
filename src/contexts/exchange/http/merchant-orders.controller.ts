import { Controller, Get } from '@nestjs/common';
import { ListQuery } from '../../../platform/http/decorators.js';
import { Reply } from '../../../platform/http/reply.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { ViewFreshness } from '../../../platform/projections/view-freshness.js';
import type { ExchangeCaller } from '../../access/contract.js';
import { ORDER_VIEWS } from '../views/order-projection.js';
import { OrdersView } from '../views/orders.js';
import { ExchangeKey } from './caller.js';
import { orderFilter, OrdersQuery, OrdersResponse } from './order-dto.js';

/** contract.md 24. */
@Controller('v1/merchant/orders')
export class MerchantOrdersController {
  constructor(
    private readonly orders: OrdersView,
    private readonly freshness: ViewFreshness,
  ) {}

  @Get()
  @Operation({
    id: 'listOrders',
    tag: 'Exchange orders',
    summary: 'List orders, newest first',
    description:
      'Orders that this key has made. X-Signature is over `withdraw_address=` with nothing after it.',
    responses: {
      200: [OrdersResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'A parameter is missing, wrong, unknown or repeated; detail names it.',
    },
  })
  async list(@ExchangeKey() { keyId }: ExchangeCaller, @ListQuery() query: OrdersQuery): Promise<Reply> {
    const filter = orderFilter(query);
    await this.freshness.require(ORDER_VIEWS);
    return new Reply(200, await this.orders.page(keyId, filter));
  }
}
