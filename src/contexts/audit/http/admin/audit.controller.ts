import { Get } from '@nestjs/common';
import { AdminController } from '../../../../platform/http/admin/admin-controller.js';
import { UuidParam, ValidQuery } from '../../../../platform/http/decorators.js';
import { Disclosure, Reads } from '../../../../platform/http/reads.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { PayoutProofs } from '../../application/payout-proofs.js';
import { ConsistencyQuery, ConsistencyResponse, HeadResponse, ProofResponse } from '../ledger-dto.js';

const TAG = 'Admin: audit';

/** admin-api.md 3: the same heads and proofs as merchants get, of any merchant. */
@AdminController()
export class AdminAuditController {
  constructor(private readonly proofs: PayoutProofs) {}

  @Get('payouts/:id/proof')
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

  @Get('audit/head')
  @ApiRoute({
    id: 'adminGetAuditHead',
    tag: TAG,
    summary: 'Get the newest signed head of the log',
    scopes: ['audit:read'],
    responses: {
      200: [HeadResponse, 'The head, and the public key that it is signed with.'],
      503: 'No head is signed yet.',
    },
  })
  @Reads({ view: null, lookup: null })
  async head(): Promise<HeadResponse> {
    return { head: await this.proofs.newestHead() };
  }

  @Get('audit/consistency')
  @ApiRoute({
    id: 'adminGetAuditConsistency',
    tag: TAG,
    summary: 'Get the proof that a signed head extends an earlier one',
    scopes: ['audit:read'],
    responses: {
      200: [ConsistencyResponse, 'The later head, and the path from the root of the earlier one.'],
      400: 'The earlier head covers more events than the later one.',
      404: 'No head covers exactly `to` events.',
      503: 'No head is signed yet.',
    },
  })
  @Reads({ view: null, lookup: null })
  async consistency(@ValidQuery() { from, to }: ConsistencyQuery): Promise<ConsistencyResponse> {
    return { consistency: await this.proofs.consistency(from, to ?? null) };
  }
}
