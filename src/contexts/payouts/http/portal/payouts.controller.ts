import { Get } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { ListQuery, MerchantId, UuidParam } from '../../../../platform/http/decorators.js';
import { Reply } from '../../../../platform/http/reply.js';
import { UpToDate } from '../../../../platform/http/reads.js';
import { PAYOUT_VIEWS } from '../../views/audited-payouts.js';
import { EvidenceView, PayoutsView } from '../../views/payouts.js';
import { PayoutsQuery, type EvidenceResponse } from '../payout-dto.js';

const READ = 'payouts:read';

/** Payouts of the merchant, for its people, as the merchant API returns them (admin-api.md 6). */
@PortalController('payouts')
export class PortalPayoutsController {
  constructor(
    private readonly payouts: PayoutsView,
    private readonly evidence: EvidenceView,
  ) {}

  @Get()
  @PortalScopes(READ)
  @UpToDate(PAYOUT_VIEWS)
  async list(@MerchantId() merchantId: string, @ListQuery() query: PayoutsQuery): Promise<Reply> {
    return new Reply(200, await this.payouts.page(merchantId, query));
  }

  @Get(':id')
  @PortalScopes(READ)
  @UpToDate(PAYOUT_VIEWS)
  async get(@MerchantId() merchantId: string, @UuidParam('id', 'Payout') id: string): Promise<Reply> {
    const payout = await this.payouts.find(merchantId, id);
    if (payout === null) throw DomainError.notFound('Payout');
    return new Reply(200, `{"payout":${payout.body}}`);
  }

  @Get(':id/evidence')
  @PortalScopes(READ)
  async evidenceOf(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<EvidenceResponse> {
    return { evidence: await this.evidence.of(merchantId, id) };
  }
}
