import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { CommandHandler } from '../../../../platform/commands.js';
import { issueSecret } from '../../domain/exchange-key.js';
import { ExchangeKeyChanges } from './exchange-key-changes.js';
import { ExchangeKeySecrets } from './exchange-key-secrets.js';
import type { IssuedSecret } from './issue-exchange-key.js';

/** A second secret beside the one in use. Throws `not_found`, or `invalid_transition` beyond two and for a revoked key. */
export class RotateExchangeKey extends Command<IssuedSecret> {
  constructor(readonly keyId: string) {
    super();
  }
}

@CommandHandler(RotateExchangeKey)
export class RotateExchangeKeyHandler implements ICommandHandler<RotateExchangeKey> {
  constructor(
    private readonly keys: ExchangeKeyChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: ExchangeKeySecrets,
  ) {}

  async execute({ keyId }: RotateExchangeKey): Promise<IssuedSecret> {
    const { secret, ...made } = this.secrets.generate(keyId);
    const at = timestamp(this.clock);
    const { visible } = await this.keys.change(keyId, (state) => issueSecret({ secret: made, at }, state));
    return { secretId: made.secretId, secret, visible };
  }
}
