import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { merchant, revokeKey } from '../domain/merchant.js';
import type { MerchantChanged } from './merchant-changed.js';

/** Signatures made with this private key are refused from now on. Throws `not_found`. */
export class RevokeMerchantKey extends Command<MerchantChanged> {
  constructor(
    readonly merchantId: string,
    readonly keyId: string,
  ) {
    super();
  }
}

@CommandHandler(RevokeMerchantKey)
export class RevokeMerchantKeyHandler implements ICommandHandler<RevokeMerchantKey> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, keyId }: RevokeMerchantKey): Promise<MerchantChanged> {
    const at = this.clock.now().toISOString();
    return this.loop.execute(merchant, merchantId, (state) => revokeKey({ keyId, at }, state));
  }
}
