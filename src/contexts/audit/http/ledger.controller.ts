import { Controller, Get } from '@nestjs/common';
import { PortalRoute } from '../../../platform/http/admin/portal-controller.js';
import { MerchantId, UuidParam, ValidQuery } from '../../../platform/http/decorators.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { PayoutProofs } from '../application/payout-proofs.js';
import { ConsistencyQuery, ConsistencyResponse, HeadResponse, ProofResponse } from './ledger-dto.js';

const TAG = 'Audit';
const EXTENSION = 'An extension of the specification.';

/** contract.md 10.9 to 10.11. */
@Controller('merchants/v1')
export class LedgerController {
  constructor(private readonly proofs: PayoutProofs) {}

  @Get('payouts/:id/proof')
  @PortalRoute('payouts/:id/proof', 'payouts:read')
  @ApiRoute({
    id: 'getPayoutProof',
    tag: TAG,
    summary: 'Get the proof that the events of a payout are in the log',
    description: `${EXTENSION} Each event leads to the root of the newest signed head. The public key is all that a check needs.`,
    responses: {
      200: [ProofResponse, 'The events of the payout, and their proofs.'],
      404: 'The merchant has no such payout.',
      503: 'The newest event of the payout is under no signed head yet: Retry-After says when it will be.',
    },
  })
  async proofOf(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<ProofResponse> {
    return { proof: await this.proofs.of(merchantId, id) };
  }

  @Get('audit/head')
  @ApiRoute({
    id: 'getAuditHead',
    tag: TAG,
    summary: 'Get the newest signed head of the log',
    description: `${EXTENSION} Keep it to prove later that the log was rewritten or cut.`,
    responses: {
      200: [HeadResponse, 'The head, and the public key that it is signed with.'],
      503: 'No head is signed yet.',
    },
  })
  async head(): Promise<HeadResponse> {
    return { head: await this.proofs.newestHead() };
  }

  @Get('audit/consistency')
  @ApiRoute({
    id: 'getAuditConsistency',
    tag: TAG,
    summary: 'Get the proof that a signed head extends an earlier one',
    description: `${EXTENSION} With the earlier head it is all that a check needs to find that no event under it was changed or removed.`,
    responses: {
      200: [ConsistencyResponse, 'The later head, and the path from the root of the earlier one.'],
      400: 'The earlier head covers more events than the later one.',
      404: 'No head covers exactly `to` events.',
      503: 'No head is signed yet.',
    },
  })
  async consistency(@ValidQuery() { from, to }: ConsistencyQuery): Promise<ConsistencyResponse> {
    return { consistency: await this.proofs.consistency(from, to ?? null) };
  }
}
