import { Get } from '@nestjs/common';
import { Fault } from '../../../../kernel/fault.js';
import { PageOf } from '../../../../platform/dto/field.js';
import { digits, text, uuid } from '../../../../platform/dto/rules.js';
import { AdminController } from '../../../../platform/http/admin/admin.guard.js';
import { PortalRoute } from '../../../../platform/http/admin/portal.guard.js';
import { ListQuery } from '../../../../platform/http/decorators.js';
import { Filter, ListParameters, MAX_PAGE } from '../../../../platform/http/list-query.js';
import { Reach, Reads } from '../../../../platform/http/reads.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { LoggedRequest, RequestTable } from '../../store/request-table.js';

const MAX_PATH = 1024;

const pathPrefix = text({ maxLength: MAX_PATH, examples: ['/merchants/v1/payouts'] }, (value) =>
  value.startsWith('/') && value.length <= MAX_PATH && !value.includes('\0')
    ? value
    : new Fault('must begin with / and have at most 1024 characters'),
);

class RequestsQuery extends ListParameters {
  @Filter(digits(100, 599), 'Only requests with this status.') status?: number;
  @Filter(pathPrefix, 'Only requests whose path begins so.') path?: string;
  @Filter(uuid, 'Only this request: the Request-Id of its response.') request_id?: string;
  @Filter(uuid, 'Only requests of this merchant.') merchant_id?: string;
}

class RequestsResponse extends PageOf('requests', LoggedRequest, { maxItems: MAX_PAGE }) {}

/** admin-api.md 3: what merchants requested in the last seven days. */
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
