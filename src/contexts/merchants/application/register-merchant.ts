import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { registerMerchant } from '../domain/merchant.js';
import type { IssuedKey } from './issue-merchant-key.js';
import { MerchantChanges } from './merchant-changes.js';
import { PrivateKeys } from './private-keys.js';

/** `merchantId` is the `svc-api-key` of the merchant. */
export interface RegisteredMerchant extends IssuedKey {
  readonly merchantId: string;
}

/** A new merchant with its first private key. Throws `validation_failed` on `name`. */
export class RegisterMerchant extends Command<RegisteredMerchant> {
  constructor(readonly name: string) {
    super();
  }
}

@CommandHandler(RegisterMerchant)
export class RegisterMerchantHandler implements ICommandHandler<RegisterMerchant> {
  constructor(
    private readonly merchants: MerchantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly privateKeys: PrivateKeys,
  ) {}

  async execute({ name }: RegisterMerchant): Promise<RegisteredMerchant> {
    const merchantId = newId();
    const key = this.privateKeys.generate(merchantId);
    const at = timestamp(this.clock);
    const { visible } = await this.merchants.change(merchantId, (state) =>
      registerMerchant({ merchantId, name, key, at }, state),
    );
    return { merchantId, keyId: key.keyId, privateKey: key.privateKey, visible };
  }
}
