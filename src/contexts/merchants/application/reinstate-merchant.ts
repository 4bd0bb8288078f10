import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { reinstateMerchant } from '../domain/merchant.js';
import { MerchantChanges, type MerchantChanged } from './merchant-changes.js';

/** Ends a suspension. Throws `not_found`. */
export class ReinstateMerchant extends Command<MerchantChanged> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(ReinstateMerchant)
export class ReinstateMerchantHandler implements ICommandHandler<ReinstateMerchant> {
  constructor(
    private readonly merchants: MerchantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId }: ReinstateMerchant): Promise<MerchantChanged> {
    const at = timestamp(this.clock);
    return this.merchants.change(merchantId, (state) => reinstateMerchant({ at }, state));
  }
}
