import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { revokeKey } from '../domain/merchant.js';
import { MerchantChanges, type MerchantChanged } from './merchant-changes.js';

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
    private readonly merchants: MerchantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, keyId }: RevokeMerchantKey): Promise<MerchantChanged> {
    const at = timestamp(this.clock);
    return this.merchants.change(merchantId, (state) => revokeKey({ keyId, at }, state));
  }
}
