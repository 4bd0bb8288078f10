import { Get } from '@nestjs/common';
import { PageOf } from '../../../platform/dto/field.js';
import { AdminController } from '../../../platform/http/admin/admin.guard.js';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import { ListQuery } from '../../../platform/http/decorators.js';
import { MAX_PAGE } from '../../../platform/http/list-query.js';
import { Reach, Reads } from '../../../platform/http/reads.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { LoggedRequest, RequestsQuery, RequestTable } from './request-table.store.js';

class RequestsResponse extends PageOf('requests', LoggedRequest, { maxItems: MAX_PAGE }) {}

@AdminController('requests')
export class AdminRequestsController {
  constructor(private readonly requests: RequestTable) {}

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
