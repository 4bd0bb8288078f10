import { Get } from '@nestjs/common';
import {
  AdminController,
  Caller,
  reachOf,
  type AdminCaller,
} from '../../../platform/http/admin/admin-controller.js';
import { ListQuery } from '../../../platform/http/decorators.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { Lookups } from '../../../platform/operations/lookups.js';
import { EndpointsList, type EndpointsPage } from '../views/endpoints-list.js';
import { AdminEndpointsResponse, EndpointsQuery } from './admin-webhook-dto.js';

/** Webhook endpoints of all merchants (admin-api.md 3), without their signing secrets. */
@AdminController('webhook_endpoints')
export class AdminEndpointsController {
  constructor(
    private readonly list: EndpointsList,
    private readonly lookups: Lookups,
  ) {}

  @Get()
  @Operation({
    id: 'adminListWebhookEndpoints',
    tag: 'Admin: webhooks',
    summary: 'List webhook endpoints, newest first',
    scopes: ['webhooks:read'],
    responses: {
      200: [AdminEndpointsResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'A filter, page_size or page_cursor is invalid; detail names it.',
      404: 'The key is confined to other merchants than that of merchant_id.',
    },
  })
  async page(@Caller() caller: AdminCaller, @ListQuery() query: EndpointsQuery): Promise<EndpointsPage> {
    const merchantIds = reachOf(caller, query.merchant_id);
    const page = await this.list.page({
      merchantIds,
      status: query.status,
      pageSize: query.page_size,
      after: query.page_cursor,
    });
    const merchants =
      query.merchant_id === undefined
        ? page.webhook_endpoints.map(({ merchant_id }) => merchant_id)
        : [query.merchant_id];
    await this.lookups.read(caller, [...new Set(merchants)], 'webhook endpoints');
    return page;
  }
}
