import { Get } from '@nestjs/common';
import { PortalController, PortalScopes } from '../../../../platform/http/admin/portal-controller.js';
import { MerchantId, UuidParam } from '../../../../platform/http/decorators.js';
import { PayoutProofs } from '../../application/payout-proofs.js';
import type { ProofResponse } from '../ledger-dto.js';

/** The proof of a payout, for people of its merchant (admin-api.md 6). */
@PortalController('payouts')
export class PortalProofController {
  constructor(private readonly proofs: PayoutProofs) {}

  @Get(':id/proof')
  @PortalScopes('payouts:read')
  async proofOf(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<ProofResponse> {
    return { proof: await this.proofs.of(merchantId, id) };
  }
}
