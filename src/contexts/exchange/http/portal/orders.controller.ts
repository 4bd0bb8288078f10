import { Get } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { oneOf } from '../../../../platform/dto/rules.js';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { ListQuery, MerchantId, UuidParam } from '../../../../platform/http/decorators.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';
import { UpToDate } from '../../../../platform/http/reads.js';
import { ORDER_STATUSES, type OrderStatus } from '../../domain/order-events.js';
import { ORDER_VIEWS } from '../../views/order-projection.js';
import { OrderDetails, OrdersView } from '../../views/orders.js';
import { nonEmpty } from '../parameters.js';

class PortalOrdersQuery extends ListParameters {
  @Filter(nonEmpty, 'Only orders of this user, as the merchant named it.') user_id?: string;
  @Filter(oneOf(ORDER_STATUSES), 'Only orders in this status.') status?: OrderStatus;
  @Filter(oneOf(['true', 'false']), 'true: only orders with an amount to refund.') refundable?: string;
}

/** Orders of all exchange keys of the merchant, for its people (admin-api.md 6). */
@PortalController('orders')
export class PortalOrdersController {
  constructor(
    private readonly orders: OrdersView,
    private readonly details: OrderDetails,
  ) {}

  @Get()
  @PortalScopes('orders:read')
  @UpToDate(ORDER_VIEWS)
  async list(@MerchantId() merchantId: string, @ListQuery() query: PortalOrdersQuery) {
    return this.orders.rows([merchantId], query, true);
  }

  @Get(':id')
  @PortalScopes('orders:read')
  async get(@MerchantId() merchantId: string, @UuidParam('id', 'Order') id: string) {
    const order = await this.details.get(id);
    if (order.merchant_id !== merchantId) throw DomainError.notFound('Order');
    return { order };
  }
}
