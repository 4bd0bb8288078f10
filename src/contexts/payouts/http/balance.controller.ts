import { Controller, Get } from '@nestjs/common';
import { ViewFreshness } from '../../../platform/projections/view-freshness.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { PayeeCache } from '../application/payee-cache.js';
import { BalancesView, NOTHING_PAID } from '../views/balances.js';
import { PAYOUT_VIEWS } from '../views/audited-payouts.js';
import { BalanceResponse } from './payout-dto.js';

/** GET /merchants/v1/users/{id}/balance (contract.md 11): what the user's payouts add up to. */
@Controller('merchants/v1/users')
export class BalanceController {
  constructor(
    private readonly balances: BalancesView,
    private readonly payees: PayeeCache,
    private readonly freshness: ViewFreshness,
  ) {}

  @Get(':id/balance')
  @Operation({
    id: 'getBalance',
    tag: 'Users',
    summary: 'Get the balance of a user',
    responses: {
      200: [BalanceResponse, "Sums over the user's payouts."],
      404: 'The merchant has no such user.',
    },
  })
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
  ): Promise<BalanceResponse> {
    await this.freshness.require(PAYOUT_VIEWS);
    const balance = await this.balances.find(merchantId, userId);
    if (balance !== null) return { balance };
    // Creating a user does not wait for this read model: a user it does not know yet may be a new one.
    const { state } = await this.payees.get(userId);
    if (state.accountState === 'unknown' || state.merchantId !== merchantId)
      throw DomainError.notFound('User');
    return { balance: NOTHING_PAID };
  }
}
