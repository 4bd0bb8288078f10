import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { merchant, reinstateMerchant } from '../domain/merchant.js';
import type { MerchantChanged } from './merchant-changed.js';

/** Ends a suspension. Throws `not_found`. */
export class ReinstateMerchant extends Command<MerchantChanged> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(ReinstateMerchant)
export class ReinstateMerchantHandler implements ICommandHandler<ReinstateMerchant> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId }: ReinstateMerchant): Promise<MerchantChanged> {
    const at = this.clock.now().toISOString();
    return this.loop.execute(merchant, merchantId, (state) => reinstateMerchant({ at }, state));
  }
}
