import { Get } from '@nestjs/common';
import { AdminController } from '../../../../platform/http/admin/admin-controller.js';
import { PortalRoute } from '../../../../platform/http/admin/portal-controller.js';
import { ListQuery } from '../../../../platform/http/decorators.js';
import { Reach, Reads } from '../../../../platform/http/reads.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { LoggedRequests } from '../../views/logged-requests.js';
import { RequestsQuery, RequestsResponse } from '../requests-dto.js';

/** admin-api.md 3: what merchants requested in the last seven days. */
@AdminController('requests')
export class AdminRequestsController {
  constructor(private readonly requests: LoggedRequests) {}

  @Get()
  @PortalRoute('requests', 'requests:read')
  @ApiRoute({
    id: 'adminListRequests',
    tag: 'Admin: requests',
    summary: 'List requests to the merchant and the exchange API, newest first',
    description: 'Of the last 7 days. A request appears within two seconds of its response.',
    scopes: ['requests:read'],
    responses: {
      200: [RequestsResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'A filter, page_size or page_cursor is invalid, or unknown; detail names it.',
      404: 'The merchant of merchant_id is not within reach of the key.',
    },
  })
  @Reads({ view: null, lookup: 'requests' })
  list(
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: RequestsQuery,
  ): Promise<RequestsResponse> {
    return this.requests.page(merchants, query);
  }
}
