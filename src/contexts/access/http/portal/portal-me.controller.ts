import { Get } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import {
  PortalController,
  PortalScopes,
  PortalVisitor,
  type PortalCaller,
} from '../../../../platform/http/admin/portal-controller.js';
import { DirectoryView } from '../../views/directory.js';

/** Who is in the portal, and what they may do (admin-api.md 6). */
@PortalController('me')
export class PortalMeController {
  constructor(private readonly directory: DirectoryView) {}

  @Get()
  @PortalScopes()
  async me(@PortalVisitor() caller: PortalCaller) {
    const merchant = await this.directory.merchant(caller.merchantId);
    if (merchant === null) throw DomainError.notFound('Merchant');
    const { merchantId: id, name, status } = merchant;
    return {
      merchant: { id, name, status },
      actor: caller.actor,
      scopes: [...caller.scopes],
      session_expires_at: caller.expiresAt,
      return_url: caller.returnUrl,
    };
  }
}
