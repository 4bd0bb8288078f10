import { Get } from '@nestjs/common';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { ListQuery, MerchantId } from '../../../../platform/http/decorators.js';
import { ListParameters } from '../../../../platform/http/list-query.js';
import { LookupsView } from '../../views/lookups.js';

/** When operators read or changed the merchant's data; every session may know (admin-api.md 6). */
@PortalController('lookups')
export class PortalLookupsController {
  constructor(private readonly lookups: LookupsView) {}

  @Get()
  @PortalScopes()
  list(@MerchantId() merchantId: string, @ListQuery() query: ListParameters) {
    return this.lookups.page(merchantId, query);
  }
}
