import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { canonicalCidrs } from './ip-allow-list.js';
import { setIpAllowList } from '../domain/merchant.js';
import { MerchantChanges, type MerchantChanged } from './merchant-changes.js';

/**
 * Calls from outside these addresses and CIDR ranges get 403; none: anywhere.
 * Throws `not_found`, or `validation_failed` on `cidrs`.
 */
export class SetIpAllowList extends Command<MerchantChanged> {
  constructor(
    readonly merchantId: string,
    readonly cidrs: readonly string[],
  ) {
    super();
  }
}

@CommandHandler(SetIpAllowList)
export class SetIpAllowListHandler implements ICommandHandler<SetIpAllowList> {
  constructor(
    private readonly merchants: MerchantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: SetIpAllowList): Promise<MerchantChanged> {
    const cidrs = canonicalCidrs(command.cidrs);
    const at = timestamp(this.clock);
    return this.merchants.change(command.merchantId, (state) => setIpAllowList({ cidrs, at }, state));
  }
}
