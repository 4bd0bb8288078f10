import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { merchant, suspendMerchant } from '../domain/merchant.js';
import type { MerchantChanged } from './merchant-changed.js';

/** Every call of the merchant is answered 403 from now on. Throws `not_found`. */
export class SuspendMerchant extends Command<MerchantChanged> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(SuspendMerchant)
export class SuspendMerchantHandler implements ICommandHandler<SuspendMerchant> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId }: SuspendMerchant): Promise<MerchantChanged> {
    const at = this.clock.now().toISOString();
    return this.loop.execute(merchant, merchantId, (state) => suspendMerchant({ at }, state));
  }
}
