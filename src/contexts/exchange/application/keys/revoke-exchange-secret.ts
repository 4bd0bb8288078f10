import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { CommandHandler } from '../../../../platform/commands.js';
import { revokeSecret } from '../../domain/exchange-key.js';
import { ExchangeKeyChanges, type ExchangeKeyChanged } from './exchange-key-changes.js';

/** Signatures made with this secret are refused from now on. Throws `not_found`, `invalid_transition` for the last one. */
export class RevokeExchangeSecret extends Command<ExchangeKeyChanged> {
  constructor(
    readonly keyId: string,
    readonly secretId: string,
  ) {
    super();
  }
}

@CommandHandler(RevokeExchangeSecret)
export class RevokeExchangeSecretHandler implements ICommandHandler<RevokeExchangeSecret> {
  constructor(
    private readonly keys: ExchangeKeyChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ keyId, secretId }: RevokeExchangeSecret): Promise<ExchangeKeyChanged> {
    const at = timestamp(this.clock);
    return this.keys.change(keyId, (state) => revokeSecret({ secretId, at }, state));
  }
}
