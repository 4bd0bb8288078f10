import { Get } from '@nestjs/common';
import {
  AdminController,
  Caller,
  merchantsOf,
  reachOf,
  type AdminCaller,
} from '../../../../platform/http/admin/admin-controller.js';
import { ListQuery } from '../../../../platform/http/decorators.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { OperatorLookups } from '../../../../platform/operations/operator-lookups.js';
import { LoggedRequests } from '../../views/logged-requests.js';
import { AdminRequestsQuery, RequestsResponse } from '../requests-dto.js';

/** admin-api.md 3: what merchants requested in the last seven days. */
@AdminController('requests')
export class AdminRequestsController {
  constructor(
    private readonly requests: LoggedRequests,
    private readonly lookups: OperatorLookups,
  ) {}

  @Get()
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
  async list(
    @Caller() caller: AdminCaller,
    @ListQuery() query: AdminRequestsQuery,
  ): Promise<RequestsResponse> {
    const page = await this.requests.page(reachOf(caller, query.merchant_id), query);
    await this.lookups.record(caller, merchantsOf(query.merchant_id, page.requests), 'requests');
    return page;
  }
}
