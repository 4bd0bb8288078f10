import { Get } from '@nestjs/common';
import { AdminController } from '../../../../platform/http/admin/admin-controller.js';
import { UuidParam } from '../../../../platform/http/decorators.js';
import { Disclosure, Reads } from '../../../../platform/http/reads.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { PayoutProofs } from '../../application/payout-proofs.js';
import { ProofResponse } from '../ledger-dto.js';

/** admin-api.md 3: the proof of a payout of any merchant. */
@AdminController('payouts')
export class AdminProofController {
  constructor(private readonly proofs: PayoutProofs) {}

  @Get(':id/proof')
  @ApiRoute({
    id: 'adminGetPayoutProof',
    tag: 'Admin: payouts',
    summary: 'Get the proof that the events of a payout are in the log',
    scopes: ['payouts:read'],
    responses: {
      200: [ProofResponse, 'The events of the payout, and their proofs.'],
      404: 'There is no such payout within reach of the key.',
      503: 'The newest event of the payout is under no signed head yet: Retry-After says when it will be.',
    },
  })
  @Reads({ view: null, lookup: 'payout' })
  async proofOf(@UuidParam('id', 'Payout') id: string): Promise<Disclosure<ProofResponse>> {
    const merchantId = await this.proofs.merchantOf(id);
    return new Disclosure([merchantId], async () => ({ proof: await this.proofs.of(merchantId, id) }));
  }
}
