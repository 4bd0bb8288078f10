import { Get } from '@nestjs/common';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { Admission } from '../../../../platform/http/authentication.js';
import { MerchantOfRequest } from '../../../../platform/http/decorators.js';
import type { MerchantCredentials } from '../../../../platform/http/merchant-directory.js';
import { DailyRequests } from '../../views/daily-requests.js';

/** Requests of the merchant against its limit (admin-api.md 6). */
@PortalController('usage')
export class PortalUsageController {
  constructor(
    private readonly admission: Admission,
    private readonly days: DailyRequests,
  ) {}

  @Get()
  @PortalScopes('usage:read')
  async usage(@MerchantOfRequest() merchant: MerchantCredentials) {
    const { limit, used, resetsAt } = await this.admission.usage(merchant);
    const resets_at = resetsAt === null ? null : new Date(resetsAt).toISOString();
    return { limit, used, resets_at, days: await this.days.of(merchant.merchantId) };
  }
}
