import { Get } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Caller } from '../../../../platform/http/admin/admin-controller.js';
import {
  PortalController,
  PortalScopes,
  type PortalCaller,
} from '../../../../platform/http/admin/portal-controller.js';
import { RateLimitGuard, WINDOW_SECONDS } from '../../../../platform/http/rate-limit.js';
import { MerchantOfRequest } from '../../../../platform/http/decorators.js';
import type { ApiCaller } from '../../../../platform/http/merchant-directory.js';
import { DailyRequests } from '../../views/logged-requests.js';
import { MerchantList } from '../../views/merchant-list.js';
import { PORTAL_SCOPES } from '../../domain/portal-session.js';

/** Who is in the portal, and how much of its limit the merchant uses (admin-api.md 6). */
@PortalController()
export class PortalOverviewController {
  constructor(
    private readonly merchants: MerchantList,
    private readonly limits: RateLimitGuard,
    private readonly days: DailyRequests,
  ) {}

  @Get('me')
  @PortalScopes()
  async me(@Caller() caller: PortalCaller) {
    const merchant = await this.merchants.find(caller.merchantId);
    if (merchant === null) throw DomainError.notFound('Merchant');
    const { id, name, status } = merchant;
    return {
      merchant: { id, name, status },
      actor: caller.actor,
      scopes: PORTAL_SCOPES.filter((each) => caller.scopes.has(each)),
      session_expires_at: caller.expiresAt,
      return_url: caller.returnUrl,
    };
  }

  /** Requests of the merchant against its limit. */
  @Get('usage')
  @PortalScopes('usage:read')
  async usage(@MerchantOfRequest() merchant: ApiCaller) {
    const { limit, used: leased, resetsAt } = await this.limits.usage(merchant);
    // Processes lease more than they use. The first request arrived a little before the window began.
    const from = (resetsAt ?? 0) - (WINDOW_SECONDS + 1) * 1000;
    const used = await this.days.since(merchant.merchantId, from, leased);
    const resets_at = resetsAt === null ? null : new Date(resetsAt).toISOString();
    return { limit, used, resets_at, days: await this.days.of(merchant.merchantId) };
  }
}
