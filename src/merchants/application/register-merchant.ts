import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { merchant, registerMerchant } from '../domain/merchant.js';
import type { IssuedKey } from './issue-merchant-key.js';
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
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly privateKeys: PrivateKeys,
  ) {}

  async execute({ name }: RegisterMerchant): Promise<RegisteredMerchant> {
    const merchantId = newId();
    const key = this.privateKeys.generate(merchantId);
    const at = this.clock.now().toISOString();
    const { position } = await this.loop.execute(merchant, merchantId, (state) =>
      registerMerchant({ merchantId, name, key, at }, state),
    );
    return { merchantId, keyId: key.keyId, privateKey: key.privateKey, position };
  }
}
