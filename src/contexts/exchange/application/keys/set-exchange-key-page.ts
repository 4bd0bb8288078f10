import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { CommandHandler } from '../../../../platform/commands.js';
import { setPage } from '../../domain/exchange-key.js';
import type { PayPageSettings } from '../../domain/pay-page-settings.js';
import { ExchangeKeyChanges, type ExchangeKeyChanged } from './exchange-key-changes.js';

/** Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed`. */
export class SetExchangeKeyPage extends Command<ExchangeKeyChanged> {
  constructor(
    readonly keyId: string,
    readonly page: PayPageSettings,
  ) {
    super();
  }
}

@CommandHandler(SetExchangeKeyPage)
export class SetExchangeKeyPageHandler implements ICommandHandler<SetExchangeKeyPage> {
  constructor(
    private readonly keys: ExchangeKeyChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ keyId, page }: SetExchangeKeyPage): Promise<ExchangeKeyChanged> {
    const at = timestamp(this.clock);
    return this.keys.change(keyId, (state) => setPage({ page, at }, state));
  }
}
