import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { CommandHandler } from '../../../../platform/commands.js';
import { revokeExchangeKey } from '../../domain/exchange-key.js';
import { ExchangeKeyChanges, type ExchangeKeyChanged } from './exchange-key-changes.js';

/** Requests with this key are refused from now on, for good; its orders go on. Throws `not_found`. */
export class RevokeExchangeKey extends Command<ExchangeKeyChanged> {
  constructor(readonly keyId: string) {
    super();
  }
}

@CommandHandler(RevokeExchangeKey)
export class RevokeExchangeKeyHandler implements ICommandHandler<RevokeExchangeKey> {
  constructor(
    private readonly keys: ExchangeKeyChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ keyId }: RevokeExchangeKey): Promise<ExchangeKeyChanged> {
    const at = timestamp(this.clock);
    return this.keys.change(keyId, (state) => revokeExchangeKey({ at }, state));
  }
}
