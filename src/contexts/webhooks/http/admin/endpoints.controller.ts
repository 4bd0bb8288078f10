import { Get } from '@nestjs/common';
import { AdminController, listed } from '../../../../platform/http/admin/admin-controller.js';
import { ListQuery } from '../../../../platform/http/decorators.js';
import { Reach, Reads } from '../../../../platform/http/reads.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { DELIVERIES_SAGA } from '../../application/deliveries-saga.js';
import { EndpointsView, type EndpointsPage } from '../../views/endpoints.js';
import { AdminEndpointsResponse, EndpointsQuery } from './webhook-dto.js';

/** Webhook endpoints of all merchants (admin-api.md 3), without their signing secrets. */
@AdminController('webhook_endpoints')
export class AdminEndpointsController {
  constructor(private readonly endpoints: EndpointsView) {}

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
  @Reads({ view: DELIVERIES_SAGA, mayBeLate: true, lookup: 'webhook endpoints' })
  page(
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: EndpointsQuery,
  ): Promise<EndpointsPage> {
    return this.endpoints.page(merchants, query);
  }
}
