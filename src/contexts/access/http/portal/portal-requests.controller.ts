import { Get } from '@nestjs/common';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { ListQuery, MerchantId } from '../../../../platform/http/decorators.js';
import { LoggedRequests } from '../../views/logged-requests.js';
import { RequestsQuery, type RequestsResponse } from '../requests-dto.js';

@PortalController('requests')
export class PortalRequestsController {
  constructor(private readonly requests: LoggedRequests) {}

  @Get()
  @PortalScopes('requests:read')
  async list(@MerchantId() merchantId: string, @ListQuery() query: RequestsQuery): Promise<RequestsResponse> {
    const {
      status,
      path: pathPrefix,
      request_id: requestId,
      page_size: pageSize,
      page_cursor: after,
    } = query;
    const filter = { merchantIds: [merchantId], status, pathPrefix, requestId };
    const { requests, next_cursor } = await this.requests.page(filter, { pageSize, after });
    return { requests, next_cursor };
  }
}
