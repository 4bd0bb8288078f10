import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { issueKey } from '../domain/merchant.js';
import { MerchantChanges, type MerchantChanged } from './merchant-changes.js';
import { PrivateKeys } from './private-keys.js';

/** `privateKey` is shown to the operator once; nothing in the service can show it again. */
export interface IssuedKey extends MerchantChanged {
  readonly keyId: string;
  readonly privateKey: string;
}

/** A second private key beside the one in use, for a rotation. Throws `not_found`, or `invalid_transition` beyond two. */
export class IssueMerchantKey extends Command<IssuedKey> {
  constructor(readonly merchantId: string) {
    super();
  }
}

@CommandHandler(IssueMerchantKey)
export class IssueMerchantKeyHandler implements ICommandHandler<IssueMerchantKey> {
  constructor(
    private readonly merchants: MerchantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly privateKeys: PrivateKeys,
  ) {}

  async execute({ merchantId }: IssueMerchantKey): Promise<IssuedKey> {
    const key = this.privateKeys.generate(merchantId);
    const at = timestamp(this.clock);
    const { visible } = await this.merchants.change(merchantId, (state) => issueKey({ key, at }, state));
    return { keyId: key.keyId, privateKey: key.privateKey, visible };
  }
}
