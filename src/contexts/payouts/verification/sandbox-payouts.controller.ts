import { Controller, Post } from '@nestjs/common';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { Cause, MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { PayoutResponse } from '../payouts/payouts.dto.js';
import { PAYOUT_VIEWS } from '../payouts/payouts-projection.view.js';
import { PayoutsView } from '../payouts/payouts.view.js';
import { PayoutOutcomes } from './payout-outcomes.service.js';

@Controller('merchants/v1/sandbox/payouts')
export class SandboxPayoutsController {
  constructor(
    private readonly outcomes: PayoutOutcomes,
    private readonly payouts: PayoutsView,
    private readonly progress: SubscriptionProgress,
  ) {}

  @Post(':id/expire')
  @ApiRoute({
    id: 'expireSandboxPayout',
    tag: 'Sandbox',
    summary: 'Expire a payout',
    description:
      'A pending payout expires now, even if its transfer is on the chain, with the reason of a missing transfer: payout.failed is sent. Only in the sandbox.',
    responses: {
      200: [PayoutResponse, 'The payout is expired.'],
      404: 'The merchant has no such payout.',
      409: 'The payout is received.',
    },
  })
  async expire(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Payout') id: string,
    @Cause() cause: EventMetadata,
  ): Promise<string> {
    await this.outcomes.expireEarly(merchantId, id, cause);
    await this.progress.requireCurrent(PAYOUT_VIEWS);
    const payout = await this.payouts.find(merchantId, id);
    return `{"payout":${payout!.body}}`;
  }
}
