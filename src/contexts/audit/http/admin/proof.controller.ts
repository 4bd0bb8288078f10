import { Get } from '@nestjs/common';
import {
  AdminController,
  Caller,
  requireReach,
  type AdminCaller,
} from '../../../../platform/http/admin/admin-controller.js';
import { UuidParam } from '../../../../platform/http/decorators.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { OperatorLookups } from '../../../../platform/operations/operator-lookups.js';
import { PayoutProofs } from '../../application/payout-proofs.js';
import { ProofResponse } from '../ledger-dto.js';

/** admin-api.md 3: the proof of a payout of any merchant. */
@AdminController('payouts')
export class AdminProofController {
  constructor(
    private readonly proofs: PayoutProofs,
    private readonly lookups: OperatorLookups,
  ) {}

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
  async proofOf(
    @Caller() caller: AdminCaller,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<ProofResponse> {
    const merchantId = await this.proofs.merchantOf(id);
    requireReach(caller, merchantId, 'Payout');
    await this.lookups.record(caller, [merchantId], `payout ${id}`);
    return { proof: await this.proofs.of(merchantId, id) };
  }
}
