import { Get } from '@nestjs/common';
import {
  AdminController,
  Caller,
  listed,
  merchantsOf,
  reachOf,
  type AdminCaller,
} from '../../../../platform/http/admin/admin-controller.js';
import { ListQuery } from '../../../../platform/http/decorators.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { OperatorLookups } from '../../../../platform/operations/operator-lookups.js';
import { EndpointsList, type EndpointsPage } from '../../views/endpoints-list.js';
import { AdminEndpointsResponse, EndpointsQuery } from './webhook-dto.js';

/** Webhook endpoints of all merchants (admin-api.md 3), without their signing secrets. */
@AdminController('webhook_endpoints')
export class AdminEndpointsController {
  constructor(
    private readonly list: EndpointsList,
    private readonly lookups: OperatorLookups,
  ) {}

  @Get()
  @ApiRoute({
    id: 'adminListWebhookEndpoints',
    tag: 'Admin: webhooks',
    summary: 'List webhook endpoints, newest first',
    scopes: ['webhooks:read'],
    responses: listed(AdminEndpointsResponse, {
      404: 'The key is confined to other merchants than that of merchant_id.',
    }),
  })
  async page(@Caller() caller: AdminCaller, @ListQuery() query: EndpointsQuery): Promise<EndpointsPage> {
    const merchantIds = reachOf(caller, query.merchant_id);
    const page = await this.list.page({ merchantIds, status: query.status, ...query.page });
    const merchants = merchantsOf(query.merchant_id, page.webhook_endpoints);
    await this.lookups.record(caller, merchants, 'webhook endpoints');
    return page;
  }
}
