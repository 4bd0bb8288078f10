import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { suspendMerchant } from '../domain/merchant.js';
import { MerchantChanges, type MerchantChanged } from './merchant-changes.js';

/** Every call of the merchant gets 403 from now on. Throws `not_found`. */
export class SuspendMerchant extends Command<MerchantChanged> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(SuspendMerchant)
export class SuspendMerchantHandler implements ICommandHandler<SuspendMerchant> {
  constructor(
    private readonly merchants: MerchantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId }: SuspendMerchant): Promise<MerchantChanged> {
    const at = timestamp(this.clock);
    return this.merchants.change(merchantId, (state) => suspendMerchant({ at }, state));
  }
}
